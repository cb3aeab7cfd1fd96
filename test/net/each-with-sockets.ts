import { createScheduler, type Scheduler } from 'shardwheel';
import { afterEach, beforeEach } from 'vitest';
import { Sockets } from './sockets.mjs';

/** What each test has to itself; it is closed when the test has ended. */
export interface OwnSockets {
  readonly scheduler: Scheduler;
  readonly sockets: Sockets;
}

/** Gives each test of a file an inline scheduler, and a keeper of sockets and servers. */
export function eachWithSockets(made: (own: OwnSockets) => void): void {
  let own: OwnSockets;
  beforeEach(() => {
    own = { scheduler: createScheduler({ shards: 0 }), sockets: new Sockets() };
    made(own);
  });
  afterEach(async () => {
    own.sockets.close();
    await own.scheduler.close();
  });
}
