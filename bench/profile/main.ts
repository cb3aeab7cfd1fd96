// What `shardwheel/profile` costs the program that it records: CPU time per operation with it and without, in alternation.
//
//     npm run build && node dist/bench/profile/main.js [rounds] [program …]
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import Table from 'cli-table3';
import { type Spread, spreadOf } from '../statistics.ts';

const about: Record<string, string> = {
  http: 'node:http, a deadline and a wait of 2 ms per request',
  gateway: 'fastify, undici, fastify: a deadline per request',
  heartbeats: 'ws: an idle timeout per connection',
  broker: 'aedes: keep-alives',
  commands: 'ioredis: a time limit per command',
  timers: 'nothing but timers: 1.1 million a second',
};
const entry = fileURLToPath(new URL(`./profiled-program${import.meta.url.slice(-3)}`, import.meta.url));
const profile = new URL('../../src/entries/profile.js', import.meta.url).href;

interface Answer {
  operations: number;
  cpu: number;
  port?: number;
}

/** µs of CPU per operation. */
function run(name: string, isProfiled: boolean, folder: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = fork(entry, [name], {
      execArgv: isProfiled ? ['--import', profile] : [],
      env: { ...process.env, SHARDWHEEL_PROFILE_DIR: folder },
    });
    let cost: number | undefined;
    child.on('message', ({ port, cpu, operations }: Answer) => {
      if (port === undefined) cost = cpu / operations;
      else autocannon({ url: `http://127.0.0.1:${port}`, connections: 100, duration: 2 }, () => child.send('done'));
    });
    child.on('error', reject);
    child.on('close', (code) => (cost === undefined ? reject(new Error(`${name} ended with ${code}`)) : resolve(cost)));
  });
}

const percent = ({ median, least, most }: Spread): string =>
  `${((median - 1) * 100).toFixed(1)} % (${((least - 1) * 100).toFixed(1)} to ${((most - 1) * 100).toFixed(1)})`;

const [, , rounds = '5', ...names] = process.argv;
const chosen = names.length > 0 ? names : Object.keys(about);
const folder = mkdtempSync(join(tmpdir(), 'profile-cost-'));
const head = ['program', 'µs of CPU per operation', 'profiled', 'more: median of pairs (spread)', 'least to least'];
const table = new Table({ head });
try {
  for (const name of chosen) {
    const plain: number[] = [];
    const profiled: number[] = [];
    for (let round = 0; round < Number(rounds); round++) {
      process.stderr.write(`${name} ${round + 1}/${rounds}\r`);
      // The order changes from pair to pair: what the machine does meanwhile falls on both.
      for (const isProfiled of round % 2 === 0 ? [false, true] : [true, false]) {
        (isProfiled ? profiled : plain).push(await run(name, isProfiled, folder));
      }
    }
    const ratios = profiled.map((cost, at) => cost / plain[at]);
    table.push([
      `${name}: ${about[name] ?? ''}`,
      spreadOf(plain).median.toFixed(3),
      spreadOf(profiled).median.toFixed(3),
      percent(spreadOf(ratios)),
      // Whatever else the machine does only adds to a run: the least of each are those that it disturbed least.
      `${((spreadOf(profiled).least / spreadOf(plain).least - 1) * 100).toFixed(1)} %`,
    ]);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`Node ${process.version}, ${rounds} pairs\n${table.toString()}`);
