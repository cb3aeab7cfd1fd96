import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../tools/screenshots/chromium.ts';
import { extremeDashboard, LONG } from './extreme.ts';
import { OpenedPage } from './opened-page.ts';
import { served } from './served.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const findFaults = readFileSync(new URL('./page-faults.mjs', import.meta.url), 'utf8');

/** Where the first numbers of labels end. */
const firstNumbers = `Math.max(...[...document.querySelectorAll('#labels td:nth-child(2)')]
  .map((each) => each.getBoundingClientRect().right))`;

/** What can be used, in the order of the page, and whether the keys have come to it. */
const usable = `[...document.querySelectorAll('button:enabled, summary, .scroll')]
  .filter((each) => each.checkVisibility() && (!each.matches('.scroll') || each.scrollWidth > each.clientWidth))`;
const focused = `(({ activeElement: element }) => {
  const { top, bottom } = element.getBoundingClientRect();
  const header = element.closest('.top') === null ? document.querySelector('.top').getBoundingClientRect().bottom : 0;
  return {
    at: ${usable}.indexOf(element),
    isSeen: bottom > header && top < innerHeight,
    outline: getComputedStyle(element).outlineStyle + ' ' + getComputedStyle(element).outlineWidth,
  };
})(document)`;

/** Opens the page, and waits until all of it shows something. */
async function open(url: string, options: Parameters<Browser['newPage']>[0], rows = 17): Promise<OpenedPage> {
  const opened = await OpenedPage.open(browser, url, options);
  const isShown = async (): Promise<boolean> =>
    (await opened.rows('#process')).length > 0 && (await opened.rows('#durable')).length === rows;
  await expect.poll(isShown, { interval: 50, timeout: 30_000 }).toBe(true);
  return opened;
}

describe('with long names and large numbers', () => {
  test.each([320, 390, 768, 1440])('at a width of %i nothing overflows, is cut, or is hard to read', async (width) => {
    await using served = await extremeDashboard();
    await using opened = await open(served.url, { viewport: { width, height: 6000 } });
    const { page } = opened;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(200);
      const { faults, texts } = await page.evaluate<{ faults: string[]; texts: number }>(findFaults);
      expect([colorScheme, faults]).toEqual([colorScheme, []]);
      expect(texts).toBeGreaterThan(250);
    }
    const labels = await opened.rows('#labels');
    expect(labels.map(([label]) => label).sort()).toEqual([LONG, 'idle [U+202E]gnitset', 'request']);
    expect(await page.evaluate<number>(firstNumbers)).toBeLessThan(width); // the name does not push them out
    expect((await opened.rows('#events')).at(-1)?.[1]).toMatch(/a idle \[U\+202E\]gnitset$/);
    expect(await page.locator('#durable').getAttribute('tabindex')).toBeNull(); // narrow enough everywhere
    if (width === 1440) expect(await page.locator('.scroll[tabindex]').count()).toBe(0);
    expect(opened.trouble).toEqual([]);
  });

  test.each([
    ['with', extremeDashboard, 17],
    ['without', served, 0],
  ])('both columns of a desk are full, %s durable timers', async (_name, serve, rows) => {
    await using dashboard = await serve();
    await using opened = await open(dashboard.url, { viewport: { width: 1440, height: 3000 } }, rows);
    const cards = await opened.page.evaluate<{ left: number; bottom: number }[]>(
      "[...document.querySelectorAll('.columns > .panel')].map((each) => each.getBoundingClientRect().toJSON())",
    );
    const [first, second] = [...new Set(cards.map(({ left }) => left))].map((column) =>
      Math.max(...cards.flatMap(({ left, bottom }) => (left === column ? [bottom] : []))),
    );
    expect(Math.abs(first - second)).toBeLessThan(200);
  });

  test.each([390, 1440])('at a width of %i keys reach what can be used, and one sees where they are', async (width) => {
    await using served = await extremeDashboard();
    await using opened = await open(served.url, { viewport: { width, height: 700 } });
    const { page } = opened;
    const count = await page.evaluate<number>(`${usable}.length`);
    const stops: unknown[] = [];
    for (let stop = 0; stop < count; stop++) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate(focused));
    }
    const outline = 'solid 2px';
    expect(stops).toEqual(Array.from({ length: count }, (_, at) => ({ at, isSeen: true, outline })));
    expect(count).toBeGreaterThanOrEqual(width === 390 ? 9 : 5);
    for (const [chart, key] of [
      ['#live-chart', 'Enter'],
      ['#histogram', 'Space'],
    ]) {
      await page.locator(`${chart} summary`).focus();
      await page.keyboard.press(key);
      await expect.poll(async () => (await opened.rows(chart)).length, { timeout: 15_000 }).toBeGreaterThan(0);
    }
    if (width === 390) {
      await page.locator('#shards').focus();
      await page.keyboard.press('ArrowRight');
      const scrolled = () => page.evaluate("document.getElementById('shards').scrollLeft");
      await expect.poll(scrolled, { timeout: 5000 }).toBeGreaterThan(0);
    }
  });
});

test.each([390, 1440])(
  'at a width of %i, scrolled down: it stays in view whether the numbers are live, and their age',
  async (width) => {
    const height = 600;
    const served = await extremeDashboard();
    await using opened = await open(served.url, { viewport: { width, height } });
    const { page } = opened;
    await page.mouse.wheel(0, 100_000);
    await expect.poll(() => page.evaluate<number>('scrollY'), { timeout: 5000 }).toBeGreaterThan(1000);
    const boxes = (...ids: string[]) => Promise.all(ids.map((id) => page.locator(id).boundingBox()));
    const isInView = async (...ids: string[]) =>
      (await boxes(...ids)).every((box) => box !== null && box.y >= 0 && box.y + box.height < height / 2);
    expect([await opened.status(), await page.locator('#age').isHidden()]).toEqual(['Live', true]);
    expect(await isInView('#status')).toBe(true);
    await served.scheduler.close();
    const ended = performance.now();
    for (const seconds of [4, 7]) {
      await page.waitForTimeout(seconds * 1000 - (performance.now() - ended));
      const age = await opened.number('#age');
      const most = (performance.now() - ended) / 1000 + 1.5; // the last sample came at most a second before the end, and some
      expect(age).toBeGreaterThanOrEqual(seconds - 1.5); // the text follows each second
      expect(age).toBeLessThanOrEqual(most);
    }
    expect(await opened.status()).toBe('Ended');
    expect(await isInView('#status', '#age', '#banner')).toBe(true);
    expect((await page.evaluate<{ faults: string[] }>(findFaults)).faults).toEqual([]);
  },
);
