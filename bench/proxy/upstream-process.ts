// Forked by measure.ts: the test upstream and the blackhole, until the parent lets go.
import { Blackhole } from './blackhole.ts';
import type { Route } from './plans.ts';
import { TestUpstream } from './upstream.ts';

const [upstream, blackhole] = await Promise.all([TestUpstream.listen(), Blackhole.open()]);
process.once('disconnect', async () => {
  await upstream.close();
  await blackhole.close();
});
const ports: Record<Route, number> = { upstream: upstream.port, blackhole: blackhole.port, secure: upstream.port };
process.send?.(ports);
