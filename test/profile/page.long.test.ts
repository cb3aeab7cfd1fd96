import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ReportData } from '../../src/extras/profile/report-data.ts';
import { runCommand } from '../cli/run-command.ts';
import { OpenedPage } from '../dashboard/opened-page.ts';
import { exampleData } from './example-data.ts';
import { folder } from './profile-program.ts';

const HOSTILE = '</script><img src="http://127.0.0.1:9/x.png" onerror="document.title=\'taken\'"><!-- <script>';

const site = { name: '', from: '', delay: 5000, samples: 800, created: 0, cleared: 0, refreshed: 0, fired: 0 };
const mine = exampleData({
  process: { pid: 4711, thread: 0, title: `app.js ${HOSTILE}`, node: process.version, execPath: process.execPath },
  sites: [
    { ...site, site: 'src/idle.js:12', name: 'watch', created: 90_000, cleared: 90_000 },
    { ...site, site: `node_modules/a/${HOSTILE}.js:3`, from: 'src/b.js:4', delay: 20, created: 10_000, fired: 10_000 },
  ],
  buckets: [
    { from: 20, created: 10_000, cleared: 0, refreshed: 0, fired: 10_000 },
    { from: 5000, created: 90_000, cleared: 90_000, refreshed: 0, fired: 0 },
  ],
  series: Array.from({ length: 40 }, (_, at) => {
    const counts = { created: 2500 * at, cleared: 2250 * at, refreshed: 0, fired: 250 * at };
    return { at: (at + 1) / 4, live: 100 * at, pass: at % 7, busy: 25 * at, ...counts };
  }),
});
const workers = exampleData({
  process: { ...mine.process, thread: 3, title: 'worker.js' },
  totals: { created: 7, cleared: 0, refreshed: 0, fired: 7 },
});

const data = join(folder, 'data');
mkdirSync(data);
for (const each of [mine, workers]) writeFileSync(join(data, `${each.process.thread}.json`), JSON.stringify(each));
const [json, html] = [join(folder, 'page.json'), join(folder, 'page.html')];
const made = await runCommand(['profile', '--read', data, '--json', json, '--out', html]);
const report: ReportData = JSON.parse(readFileSync(json, 'utf8'));
const url = pathToFileURL(html).href;

const open = (options?: BrowserContextOptions) => OpenedPage.open(url, options);

/** What the tile of this title shows. */
const tile = ({ page }: OpenedPage, title: string): Promise<string | null> =>
  page
    .locator('.tiles div', { has: page.getByText(title, { exact: true }) })
    .locator('dd')
    .textContent();

/** The rows of the table in the panel of this title. */
const rowsOf = (opened: OpenedPage, title: string): Promise<string[][]> =>
  opened.rows(opened.page.locator('.panel', { has: opened.page.getByRole('heading', { name: title }) }));

describe('the page of a profile', () => {
  test('shows the numbers of the data, asks nobody for anything, and runs nothing of what names say', async () => {
    expect([made.code, made.stderr]).toEqual([0, 'profile: measuring timers on this machine …\n']);
    await using opened = await open();
    const [{ verdict }] = report.loops;
    expect(await opened.page.textContent('h1')).toBe(verdict.headline);
    expect(await tile(opened, 'created')).toBe('100,000');
    expect(await tile(opened, 'fired')).toBe('10,000');
    expect(await tile(opened, 'live at most')).toBe('5,000after 3 s; 0 at the end');
    expect(await tile(opened, 'event loop busy')).toBe('10.0 %of 10 s');
    expect((await rowsOf(opened, 'Delays'))[0]).toEqual(['5 s', '100,000', '90,000', '0', '10,000']);
    expect(await rowsOf(opened, 'Who sets them')).toEqual([
      ['src/idle.js:12 watch', '5 s', '90,000', '90,000', '0', '0'],
      [`node_modules/a/${HOSTILE}.js:3\nfrom src/b.js:4`, '20 ms', '10,000', '0', '0', '10,000'],
    ]);
    const costs = await rowsOf(opened, 'What timers cost on this machine');
    expect(costs.map(([title]) => title)).toEqual([
      'set, and clear at once',
      'set, and clear later',
      'refresh',
      'fire',
    ]);
    expect(costs[3][1]).toBe(`${Math.round(report.calibration?.node.fire ?? 0).toLocaleString('en-US')} ns`);
    expect([opened.asked, opened.trouble]).toEqual([[url], []]);
    expect(await opened.page.title()).not.toBe('taken');
    expect(await opened.page.locator('img').count()).toBe(0);
  });

  test('draws a plot for each figure over time, and has its numbers in a table', async () => {
    await using opened = await open();
    const painted = await opened.page.evaluate(`
      [...document.querySelectorAll('.plot canvas')].map((canvas) =>
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0))`);
    expect(painted).toEqual(new Array(6).fill(true));
    const live = await rowsOf(opened, 'Live timers');
    expect(live[0]).toEqual(['0.3 s', '0']);
    expect(live.at(-1)).toEqual(['10 s', '3.9 k']);
    expect((await rowsOf(opened, 'Timers per second')).at(-1)).toEqual(['10 s', '10 k', '9 k', '0', '1 k']);
  });

  test('is used by the keyboard: the numbers of a plot are opened, another event loop is chosen', async () => {
    await using opened = await open();
    const { keyboard } = opened.page;
    const details = opened.page.locator('details').first();
    expect(await details.getAttribute('open')).toBeNull();
    for (const key of ['Tab', 'Tab', 'Enter']) await keyboard.press(key);
    expect(await details.getAttribute('open')).not.toBeNull();
    await keyboard.press('Shift+Tab');
    expect(await opened.page.evaluate('document.activeElement.tagName')).toBe('SELECT');
    await keyboard.press('ArrowDown');
    expect(await tile(opened, 'created')).toBe('7');
  });

  test('fits on a phone: nothing but tables is wider, and places stay readable', async () => {
    await using opened = await open({ viewport: { width: 360, height: 740 } });
    expect(await opened.page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    const place = opened.page.getByText('src/idle.js:12 watch');
    expect((await place.boundingBox())?.width).toBeGreaterThan(150);
  });

  test('is dark where that is preferred', async () => {
    const grounds: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await open({ colorScheme });
      grounds.push(await opened.page.evaluate('getComputedStyle(document.body).backgroundColor'));
    }
    expect(grounds).toEqual(['rgb(244, 246, 248)', 'rgb(14, 19, 24)']);
  });
});
