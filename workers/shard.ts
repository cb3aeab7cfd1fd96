import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { wordsIn } from '../src/memory/shared-words.ts';
import { buildShard } from '../src/shard/build-shard.ts';
import { GuestLanes } from '../src/shard/guest-lanes.ts';
import { ShardControl } from '../src/shard/shard-control.ts';
import { ShardLoop } from '../src/shard/shard-loop.ts';
import type { ShardTask } from '../src/shard/shard-task.ts';
import { Mailbox } from '../src/sharing/mailbox.ts';
import { PulseHolder } from '../src/sharing/pulse.ts';

/**
 * What a thread of the pool runs; the build makes one file of CommonJS of it, for two reasons. piscina requires its task's file, and
 * Node 20 aborts the whole process when a thread is terminated at one certain moment of a `require` of an ES module
 * (`CreateRequiredModuleFacade` asserts that linking succeeds). And a thread that loads no ES module starts sooner.
 *
 * Starts the shard's loop and returns, so the pool counts the thread as idle, and the process can end when nothing else keeps it.
 * The loop goes on as long as the thread lives. Returns the number of live timers that were indexed from the tables. Without a
 * task the thread only loads its code.
 */
export default function serve(task: ShardTask | undefined): number {
  if (task === undefined) return 0;
  if (task.lifeline !== undefined) new PulseHolder(wordsIn(task.lifeline), () => undefined);
  const built = buildShard(task.setup, task.origin);
  const guests = new GuestLanes(built, task.epoch);
  const loop = new ShardLoop(built);
  new Mailbox<Parameters<typeof guests.receive>[0]>(task.address, (message) => {
    guests.receive(message);
    loop.messageRead();
  });
  expose(new ShardControl(built.shard, guests), nodeEndpoint(task.control));
  task.control.on('message', () => loop.messageRead());
  loop.start();
  return built.rescheduled;
}
