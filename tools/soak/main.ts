#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { UsageError } from '../../bench/replay/command-line.ts';
import { ProgressLine } from '../../bench/replay/progress-line.ts';
import { parseSoakOptions } from './options.ts';
import { Soak } from './soak.ts';
import { renderSoakReport } from './soak-report.ts';
import { soakWheel } from './wheel/wheel-soak-main.ts';

const exitCodes = { wrong: 1, usage: 2 };

async function main(): Promise<number> {
  try {
    if (process.argv[2] === 'wheel') return await soakWheel(process.argv.slice(3));
    const options = parseSoakOptions(process.argv.slice(2));
    if (options === undefined) return 0;
    const line = new ProgressLine(process.stderr, options.cps);
    const soak = new Soak(options, (progress) => line.update(progress));
    process.once('SIGINT', () => soak.stop());
    process.once('SIGTERM', () => soak.stop());
    line.begin('soak');
    const result = await soak.run().finally(() => line.end());
    console.log(renderSoakReport(result));
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    return result.faults.length === 0 ? 0 : exitCodes.wrong;
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.wrong;
  }
}

process.exitCode = await main();
