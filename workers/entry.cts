import type { ShardTask } from '../src/shard/shard-task.ts' with { 'resolution-mode': 'import' };

/**
 * The file that the pool loads. piscina requires its task's file, and Node 20 aborts the whole process when a thread is
 * terminated at one certain moment of a `require` of an ES module (`CreateRequiredModuleFacade` asserts that linking
 * succeeds). So the pool requires this CommonJS module, and the ES modules are imported.
 */
const serving = import('./shard.js');

/** Without a task the thread only loads its code. */
module.exports = async (task?: ShardTask): Promise<number> => {
  const { default: serve } = await serving;
  return task === undefined ? 0 : serve(task);
};
