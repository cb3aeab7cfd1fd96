// Forked by measure.ts: waits for its options, runs the load, says when all stand and when it opens no more, sends the
// report, ends.
import { once } from 'node:events';
import { type LoadOptions, runLoad } from './load.ts';

process.once('disconnect', () => process.exit()); // the parent is gone, and the proxies with it
process.once('message', async (options: LoadOptions) => {
  const onStanding = async (): Promise<void> => {
    process.send?.('standing');
    await once(process, 'message'); // that it may go on
  };
  const report = await runLoad(options, onStanding, () => process.send?.('opened'));
  process.send?.(report, () => process.disconnect());
});
