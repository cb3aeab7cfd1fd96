import Table from 'cli-table3';
import { count } from '../../../bench/replay/format.ts';
import type { Finding } from './differential.ts';
import { WheelSoak } from './wheel-soak.ts';
import { parseWheelSoakOptions, type WheelSoakOptions } from './wheel-soak-options.ts';

/** ms */
const PERIOD = 3000;

/** `npm run soak -- wheel`. Returns the exit code; throws `UsageError`. */
export async function soakWheel(argv: readonly string[]): Promise<number> {
  const options = parseWheelSoakOptions(argv);
  if (options === undefined) return 0;
  const soak = new WheelSoak(options);
  const began = performance.now();
  const progress = setInterval(() => {
    const seconds = (performance.now() - began) / 1000;
    const { operations } = soak;
    const rate = (operations / seconds / 1e6).toFixed(2);
    process.stderr.write(
      `${seconds.toFixed(0).padStart(5)} s │ ${count(operations)} of ${count(options.operations)} │ ${rate} M/s\n`,
    );
  }, PERIOD);
  process.once('SIGINT', () => soak.stop());
  process.once('SIGTERM', () => soak.stop());
  await soak.run().finally(() => clearInterval(progress));
  console.log(renderTallies(soak, options, (performance.now() - began) / 1000));
  for (const finding of soak.findings) console.log(renderFinding(finding));
  for (const failure of soak.failures) console.log(`FAILED: seed ${options.seed}, ${failure}`);
  if (soak.findings.length + soak.failures.length > 0) return 1;
  console.log('No difference.');
  return 0;
}

function renderTallies(soak: WheelSoak, { seed, threads }: WheelSoakOptions, seconds: number): string {
  const table = new Table({
    head: ['wheel', 'worlds', 'operations', 'fired', 'operations/s per thread'],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const [kind, { worlds, operations, fired, took }] of soak.tallies) {
    table.push([kind, count(worlds), count(operations), count(fired), count(operations / (took / 1000) || 0)]);
  }
  const { operations } = soak;
  const rate = count(operations / seconds);
  return `${table.toString()}\nSeed ${seed}: ${count(operations)} operations in ${seconds.toFixed(1)} s on ${threads} threads, ${rate} per second.`;
}

function renderFinding({ seed, world, kind, wheel, error, moves }: Finding): string {
  return [
    `FAILED: seed ${seed}, world ${world} (${kind})`,
    error,
    `The moves that are left of it; again by: npm run soak -- wheel --seed ${seed} --world ${world}`,
    `  wheel = ${wheel}`,
    ...moves.map((move) => `  ${move}`),
  ].join('\n');
}
