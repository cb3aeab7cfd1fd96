import { measuredRun } from './measured-run.ts';

/** A process of its own for each run, so that none inherits another's heap. Its answer is a message. */
export async function runProcess(task: string): Promise<void> {
  const result = await measuredRun(JSON.parse(task));
  process.send!(result, () => process.exit());
}
