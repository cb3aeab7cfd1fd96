import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { buildShard, type ShardTask } from '../src/shard/build-shard.ts';
import { receiveCall, type ToThread } from '../src/shard/lane-mail.ts';
import { LaneServer } from '../src/shard/lane-server.ts';
import { ShardLoop } from '../src/shard/shard-loop.ts';
import { Mailbox } from '../src/sharing/mailbox.ts';

/**
 * What a thread of the pool runs; the build makes one file of CommonJS of it, for two reasons. piscina requires its
 * task's file, and Node 20 aborts the whole process when a thread is terminated at one certain moment of a `require` of
 * an ES module (`CreateRequiredModuleFacade` asserts that linking succeeds). And a thread that loads no ES module
 * starts sooner.
 *
 * Starts the shard's loop, without lanes, and returns, so the pool counts the thread as idle, and the process can end
 * when nothing else keeps it. The loop goes on as long as the thread lives.
 */
export default function serve({ setup, address, epoch, control }: ShardTask): void {
  const built = buildShard(setup);
  const server = new LaneServer(built);
  new Mailbox<ToThread>(address, (message) => receiveCall(server, setup.number, epoch, message));
  expose(server, nodeEndpoint(control));
  new ShardLoop(built).start();
}
