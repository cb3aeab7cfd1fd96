import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { buildShard } from '../src/shard/build-shard.ts';
import { GuestLanes } from '../src/shard/guest-lanes.ts';
import { ShardControl } from '../src/shard/shard-control.ts';
import { ShardLoop } from '../src/shard/shard-loop.ts';
import type { ShardTask } from '../src/shard/shard-task.ts';
import { Mailbox } from '../src/sharing/mailbox.ts';

/**
 * What a thread of the pool runs. It starts the shard's loop and returns, so that the pool counts the thread as idle and
 * lets the process end when nothing else keeps it; the loop goes on for as long as the thread lives.
 * Returns the number of live timers that were indexed from the tables.
 */
export default function serve(task: ShardTask): number {
  const built = buildShard(task.setup, task.origin);
  const guests = new GuestLanes(built, task.epoch);
  new Mailbox(task.address, guests.receive);
  expose(new ShardControl(built.shard, guests), nodeEndpoint(task.control));
  new ShardLoop(built).start();
  return built.rescheduled;
}
