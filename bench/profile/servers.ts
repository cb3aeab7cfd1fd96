// Servers under load, in `shardwheel profile`: what it says of each, and whether its counts are those of the server itself.
//
//     npm run build && node dist/bench/profile/servers.js [seconds] [server …]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import type { TimerCounts } from '../../src/profile/profile-data.ts';
import type { ReportData } from '../../tools/cli/profile/report-data.ts';

const CONNECTIONS = 100;
const ECHO_CONNECTIONS = 1000;
/** ms until a server that does not end is killed. */
const PATIENCE = 60_000;
/** As in served-program.ts: importing that would start it. */
const DELAY = 7_321;

const about: Record<string, string> = {
  fastify: 'fastify, keep-alive, no timers of its own',
  gateway: 'fastify, undici to an upstream in a worker, a deadline per request',
  deadlines: 'node:http, 20 deadlines per request',
  echo: `node:net, ${ECHO_CONNECTIONS} connections, an idle timeout each, refreshed by each message`,
};
const script = fileURLToPath(new URL('../../tools/cli/main.js', import.meta.url));
const entry = fileURLToPath(new URL('./served-program.js', import.meta.url));

/** Requests or messages per second. */
type Load = (port: number, seconds: number) => Promise<number>;

const byAutocannon: Load = async (port, seconds) => {
  const { requests, non2xx, errors } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    duration: seconds,
  });
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers of another kind than 2xx, ${errors} errors`);
  return requests.average;
};

/** Each connection sends again when its message has come back. */
const byEcho: Load = async (port, seconds) => {
  let echoed = 0;
  let isOver = false;
  const sockets = Array.from({ length: ECHO_CONNECTIONS }, () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write('x'));
    return socket.on('data', () => {
      echoed += 1;
      if (!isOver) socket.write('x');
    });
  });
  await sleep(seconds * 1000);
  isOver = true;
  await sleep(200); // what is under way comes back
  for (const socket of sockets) socket.destroy();
  await sleep(300);
  return echoed / seconds;
};

interface Served {
  rate: number;
  ledger: TimerCounts;
  report: ReportData;
}

async function serve(name: string, seconds: number, json: string): Promise<Served> {
  const argv = [script, 'profile', '--quiet', '--no-html', '--json', json, '--', process.execPath, entry, name];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const giveUp = setTimeout(() => child.kill('SIGKILL'), PATIENCE + seconds * 1000);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  try {
    const { value: port } = await lines.next();
    const rate = await (name === 'echo' ? byEcho : byAutocannon)(Number(port), seconds);
    child.kill('SIGTERM');
    const { value: ledger } = await lines.next();
    for await (const _ of lines); // the report, which is in the file as well
    await ended;
    return { rate, ledger: JSON.parse(ledger), report: JSON.parse(readFileSync(json, 'utf8')) };
  } finally {
    clearTimeout(giveUp);
  }
}

const none: TimerCounts = { created: 0, cleared: 0, refreshed: 0, fired: 0 };
const events = ['created', 'cleared', 'refreshed', 'fired'] as const;
const count = (value: number): string => Math.round(value).toLocaleString('en-US');
const percent = (share: number | undefined): string => (share === undefined ? '–' : `${(share * 100).toFixed(1)} %`);

const [, , seconds = '8', ...names] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'profiled-servers-'));
const head = ['server', 'per second', ...events, 'counts', 'loop busy', 'timers take', 'with shardwheel', 'verdict'];
const rows: string[][] = [head, head.map(() => '---')];
try {
  for (const name of names.length > 0 ? names : Object.keys(about)) {
    const { rate, ledger, report } = await serve(name, Number(seconds), join(folder, `${name}.json`));
    const loop = report.loops.find(({ data }) => data.process.thread === 0) ?? report.loops[0];
    const { data, estimate, verdict } = loop;
    const own = data.delays.find(({ delay }) => delay === DELAY) ?? none;
    const areEqual = events.every((event) => own[event] === ledger[event]);
    rows.push([
      about[name],
      count(rate),
      ...events.map((event) => count(data.totals[event])),
      areEqual ? "the server's own" : `${JSON.stringify(own)}, not ${JSON.stringify(ledger)}`,
      percent(data.busy / (data.seconds * 1000)),
      percent(estimate && estimate.calls + estimate.firing),
      percent(estimate?.withShardwheel),
      verdict.headline,
    ]);
    if (!areEqual) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`Node ${process.version}, ${seconds} s of load each\n`);
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
