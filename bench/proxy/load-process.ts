// Forked by main.ts: waits for its options, runs the load, says when it opens no more, sends the report, ends.
import { type LoadOptions, runLoad } from './load.ts';

process.once('disconnect', () => process.exit()); // the parent is gone, and the proxies with it
process.once('message', async (options: LoadOptions) => {
  const report = await runLoad(options, () => process.send?.('opened'));
  process.send?.(report, () => process.disconnect());
});
