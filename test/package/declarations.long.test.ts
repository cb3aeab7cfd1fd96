import { describe, expect, test } from 'vitest';
import { contract } from './contract.ts';
import { InstalledProject } from './installed-project.ts';

/** The oldest TypeScript that is supported, and the newest of each since. */
const compilers = ['5.4.3', '5.9.3', '6.0.3', '7.0.2'];

const program = `
import { createScheduler, InvalidConfigError, type SchedulerOptions, type TimerStarts } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { bullmqStore, type DurableOptions, type DurableTimers, type HandleOptions, lmdbStore, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { type SocketTimeoutError, type SocketTimeouts, socketTimeouts } from 'shardwheel/net';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { setTimeout } from 'shardwheel/timers';
import { setTimeout as sleep } from 'shardwheel/timers/promises';
import { createWheel } from 'shardwheel/wheel';

const options: SchedulerOptions = { shards: 1, thread: { workerUrl: '/worker.js' } };
const scheduler = createScheduler(options);
const id: number = scheduler.scheduleAfter('hint', 5, (name: string) => name.length, 'name');
const slept: Promise<string> = sleep(5, 'slept');
setTimeout(() => undefined, 5).unref();
const durable: Promise<DurableTimers<{ expired: { user: string }; plain: undefined }>> = openDurableTimers({ store: memoryStore() });
export const typed = durable.then(async (timers) => {
  timers.handle('expired', ({ user }, { key, attempt }) => user.length + key.length + attempt);
  await timers.schedule('expired', 'k', new Date(), { user: 'ada' });
  await timers.schedule('plain', 'k', 5);
  await timers.schedule('plain', 'k', 5, undefined, { persistAfter: 0 });
  // @ts-expect-error: it needs a payload
  await timers.schedule('expired', 'k', 5);
  // @ts-expect-error: it needs a payload
  await timers.schedule('expired', 'k', 5, undefined);
  // @ts-expect-error: another payload
  await timers.schedule('expired', 'k', 5, { name: 'ada' });
  // @ts-expect-error: no such name
  await timers.cancel('expires', 'k');
});
/** A call for any name of typed ones; and calls where nothing is known of payloads, or not all. */
type Payloads = { expired: { user: string }; maybe: { user: string } | undefined; optional?: number };
export async function at<Name extends keyof Payloads>(timers: DurableTimers<Payloads>, name: Name, payload: Payloads[Name]) {
  await timers.schedule(name, 'k', 5, payload);
  await timers.schedule('maybe', 'k', 5);
  await timers.schedule('optional', 'k', 5);
  timers.handle('expired', ({ user }, { signal }) => fetch(user, { signal }), { concurrency: 5, timeout: 500 });
  timers.on('failed', ({ name, key, attempt, error, retryAt }) => [name, key, attempt, error, retryAt?.toFixed()]);
}
export async function untyped(timers: DurableTimers) {
  await timers.schedule('any', 'k', 5);
  await timers.schedule('any', 'k', 5, { user: 'ada' }, { persistAfter: undefined });
}
/** As one has them who reads them from somewhere. */
export const unset: DurableOptions = { store: memoryStore(), concurrency: undefined, retry: { attempts: undefined } };
export const handling: HandleOptions = { concurrency: undefined, timeout: undefined };
declare const socket: import('node:net').Socket, session: import('node:http2').Http2Session, server: import('node:https').Server;
const timeouts: SocketTimeouts = socketTimeouts(scheduler, {
  idle: 5,
  onTimeout: (kind: SocketTimeoutError['kind'], { socket, upstream, release }) => [kind, socket.destroyed, upstream?.destroyed, release],
});
timeouts.watch(socket, session).release();
export const drained: Promise<{ closed: number; cut: number }> = timeouts.drain(5, server).then((result) => ({ ...result }));
export const counted: number = timeouts.counts.idle.timedOut;
// @ts-expect-error: no such limit
socketTimeouts(scheduler, { read: 5 });
export const stores = [lmdbStore, bullmqStore];
export const all = [id, slept, serveDashboard, observeMetrics, registerMetrics, createWheel('blitz'), InvalidConfigError];
// @ts-expect-error: a hint is a number or a string
scheduler.scheduleAfter({}, 5);

// A callback that needs an argument is given one of its type.
class Connection {
  close(): void {}
}
const cut = (connection: Connection) => connection.close();
const cutIfAny = (connection?: Connection) => connection?.close();
const calls: TimerStarts[] = [scheduler, scheduler.label('label', { slack: 5 })];
for (const timers of calls) {
  timers.schedule(1, 5, cut, new Connection());
  timers.scheduleAfter(1, 5, cutIfAny);
  timers.scheduleAt(1, new Date(), undefined, 'for the batch');
  // @ts-expect-error: nothing to cut
  timers.schedule(1, 5, cut);
  // @ts-expect-error: nothing to cut
  timers.scheduleAfter(1, 5, cut);
  // @ts-expect-error: nothing to cut
  timers.scheduleAt(1, new Date(), cut);
  // @ts-expect-error: not a connection
  timers.scheduleAfter(1, 5, cut, 'text');
  // @ts-expect-error: nothing to cut
  timers.scheduleEvery(1, 5, cut);
  timers.scheduleEvery(scheduler.group(1), 5, cut, new Connection(), { missedCalls: 'burst' });
  // @ts-expect-error: nothing to cut
  scheduler.group(1).scheduleAfter(5, cut);
}
scheduler.on('fired', ({ length, args }) => {
  for (let i = 0; i < length; i++) {
    const connection: unknown = args[i];
    if (connection instanceof Connection) connection.close();
  }
});
`;

/** What one part of a program has imported may be given to another that has required the package. */
const mixed = `
import type { Scheduler as Imported } from 'shardwheel' with { 'resolution-mode': 'import' };
import type { Scheduler as Required } from 'shardwheel' with { 'resolution-mode': 'require' };

export const required = (scheduler: Imported): Required => scheduler;
export const imported = (scheduler: Required): Imported => scheduler;
`;

/** None of the optional peers is installed. */
const project = new InstalledProject(
  ...compilers.map((version) => `typescript-${version}@npm:typescript@${version}`),
  '@types/node@20',
);
for (const name of ['module.mts', 'common.cts', 'either.ts']) project.write(name, program);
project.write('contract.mts', contract);
project.write('mixed.cts', mixed);

/** What a compiler says of the files. */
function compile(compiler: string, files: readonly string[], ...flags: string[]) {
  const common = '--noEmit --strict --skipLibCheck false --target es2022 --lib es2023,esnext.disposable --types node';
  const tsc = `node_modules/typescript-${compiler}/bin/tsc`;
  const { status, stdout } = project.try('node', [tsc, ...common.split(' '), ...flags, ...files]);
  return { status, stdout };
}

describe.each(compilers)('TypeScript %s', (compiler) => {
  // The types are also those of the contract.
  test.each([
    ['node16', ['--module', 'node16'], ['module.mts', 'common.cts', 'either.ts', 'mixed.cts']],
    ['nodenext', ['--module', 'nodenext'], ['module.mts', 'common.cts', 'either.ts', 'contract.mts']],
    ['nodenext, exactly', ['--module', 'nodenext', '--exactOptionalPropertyTypes'], ['module.mts', 'common.cts']],
    ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler'], ['module.mts', 'either.ts']],
  ])('types resolve under %s, declarations checked as well, without any optional peer', (_, flags, files) => {
    expect(compile(compiler, files, ...flags)).toEqual({ status: 0, stdout: '' });
  });
});
