// Forked by main.ts: one of several processes of a run. Waits for its options, says when its connections stand, sends
// its summary, ends.
import { once } from 'node:events';
import { measure } from './measure.ts';
import type { Options } from './options.ts';
import { summarize } from './summary.ts';

process.once('disconnect', () => process.exit());
process.once('message', async (options: Options) => {
  const onStanding = async (): Promise<void> => {
    process.send?.('standing');
    await once(process, 'message'); // that all do
  };
  const summary = summarize(await measure(options, onStanding), options);
  process.send?.(summary, () => process.disconnect());
});
