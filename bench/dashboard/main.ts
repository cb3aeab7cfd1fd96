// What the dashboard costs under the replay's load, in shares of a core: the replay's process without a dashboard, with one that
// nobody looks at, and with one that is open in Chromium; and the browser. In alternation. Linux, and Chromium on the PATH.
//
//     npm run build && node dist/bench/dashboard/main.js [rounds] [seconds] [flags of the replay …]
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import { spreadOf } from '../statistics.ts';
import { launchChromium } from './browser.ts';
import { cpuBelow } from './cpu-of-processes.ts';
import { startReplay } from './watched-replay.ts';

const ways = ['none', 'unwatched', 'page', 'hidden'] as const;
type Way = (typeof ways)[number];

interface Cost {
  replay: number;
  /** What the dashboard says that its samples take of the event loop. */
  loop: number;
  browser: number;
  renderers: number;
}

/** s until the load is steady, and the page has drawn for the first time. */
const WARM = 4;
const names: Record<Way, string> = {
  none: 'no dashboard',
  unwatched: 'a dashboard, unwatched',
  page: 'open in a page',
  hidden: 'open in a page that is not seen',
};
/** As the browser has it for a tab in the background. */
const hide = "Object.defineProperty(document, 'hidden', { get: () => true })";

/** s of CPU; what this process has started is the replay and the browser. */
function look(load: number): Omit<Cost, 'loop'> & { readonly at: number } {
  const [own, below, replay] = [process.cpuUsage(), cpuBelow(process.pid), cpuBelow(load).all];
  const browser = below.all - replay - (own.user + own.system) / 1e6;
  return { at: performance.now(), replay, browser, renderers: below.renderers };
}

async function measure(way: Way, seconds: number, flags: readonly string[]): Promise<Cost> {
  const length = ['--seconds', `${seconds + WARM + 4}`, '--drain', '0'];
  const replay = await startReplay([...flags, ...length, ...(way === 'none' ? [] : ['--dashboard', '0'])]);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    if (way === 'hidden') await page.addInitScript(hide);
    if (way === 'page' || way === 'hidden') await page.goto(replay.url ?? '');
    await sleep(WARM * 1000);
    const load = replay.child.pid as number;
    const before = look(load);
    await sleep(seconds * 1000);
    const after = look(load);
    const share = (name: 'replay' | 'browser' | 'renderers'): number =>
      ((after[name] - before[name]) * 1000) / (after.at - before.at);
    const told = way === 'page' ? await page.textContent('#process tr:last-child td') : undefined;
    return {
      replay: share('replay'),
      loop: Number(/\(([\d.]+) %/.exec(told ?? '')?.[1] ?? 0) / 100,
      browser: share('browser'),
      renderers: share('renderers'),
    };
  } finally {
    await browser.close();
    replay.stop();
    await replay.result.catch(() => undefined); // it was ended early
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
function text(values: readonly number[]): string {
  const { median, least, most } = spreadOf(values);
  return `${percent(median)} (${percent(least)} to ${percent(most)})`;
}

const [, , rounds = '5', seconds = '15', ...flags] = process.argv;
const costs: Record<Way, Cost[]> = { none: [], unwatched: [], page: [], hidden: [] };
for (let round = 0; round < Number(rounds); round++) {
  // The order changes from round to round: what the machine does meanwhile falls on all.
  for (const way of round % 2 === 0 ? ways : [...ways].reverse()) {
    process.stderr.write(`${round + 1}/${rounds} ${names[way]}\n`);
    costs[way].push(await measure(way, Number(seconds), flags));
  }
}
const table = new Table({
  style: { head: [], border: [] },
  head: ['of a core', "the replay's process", 'more than without', 'browser', 'its renderers', 'told by the page'],
});
for (const way of ways) {
  const of = (name: keyof Cost): number[] => costs[way].map((cost) => cost[name]);
  const more = of('replay').map((share, round) => share - costs.none[round].replay);
  table.push([
    names[way],
    text(of('replay')),
    way === 'none' ? '' : text(more),
    text(of('browser')),
    text(of('renderers')),
    way === 'page' ? text(of('loop')) : '',
  ]);
}
console.log(`Node ${process.version}, ${rounds} rounds of ${seconds} s, ${flags.join(' ')}\n${table.toString()}`);
