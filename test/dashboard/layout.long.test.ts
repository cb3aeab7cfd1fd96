import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { extremeDashboard, LONG } from './extreme.ts';
import { OpenedPage } from './opened-page.ts';
import { served } from './served.ts';

const findFaults = readFileSync(new URL('./page-faults.mjs', import.meta.url), 'utf8');

/** Where the first numbers of labels end. */
const firstNumbers = `Math.max(...[...document.querySelectorAll('#labels td:nth-child(2)')]
  .map((each) => each.getBoundingClientRect().right))`;

/** How far the two columns of a desk end from each other. */
const columnsApart = `(() => {
  const cards = [...document.querySelectorAll('.columns > .panel')].map((each) => each.getBoundingClientRect());
  const [first, second] = [...new Set(cards.map(({ left }) => left))].map((column) =>
    Math.max(...cards.flatMap(({ left, bottom }) => (left === column ? [bottom] : []))));
  return Math.abs(first - second);
})()`;

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
async function open(url: string, rows = 17): Promise<OpenedPage> {
  const opened = await OpenedPage.open(url, { viewport: { width: 1440, height: 3000 } });
  const isShown = async (): Promise<boolean> =>
    (await opened.rows('#process')).length > 0 && (await opened.rows('#durable')).length === rows;
  await expect.poll(isShown, { interval: 50, timeout: 30_000 }).toBe(true);
  return opened;
}

describe('with long names and large numbers', () => {
  test.each(['light', 'dark'] as const)('nothing overflows, is cut, or is hard to read, %s', async (colorScheme) => {
    await using dashboard = await extremeDashboard();
    await using opened = await open(dashboard.url);
    const { page } = opened;
    await page.emulateMedia({ colorScheme });
    for (const width of [320, 390, 768, 1440]) {
      await page.setViewportSize({ width, height: 6000 });
      await opened.drawn();
      const find = () => page.evaluate<{ faults: string[]; texts: number }>(findFaults);
      await expect.poll(async () => (await find()).faults, { message: `${width} px`, timeout: 10_000 }).toEqual([]);
      expect((await find()).texts).toBeGreaterThan(250);
      expect(await page.evaluate<number>(firstNumbers)).toBeLessThan(width); // the name does not push them out
      expect(await page.locator('#durable').getAttribute('tabindex')).toBeNull(); // narrow enough everywhere
    }
    expect(await page.locator('.scroll[tabindex]').count()).toBe(0); // on a desk nothing scrolls
    expect(await page.evaluate<number>(columnsApart)).toBeLessThan(200);
    const labels = await opened.rows('#labels');
    expect(labels.map(([label]) => label).sort()).toEqual([LONG, 'idle [U+202E]gnitset', 'request']);
    expect((await opened.rows('#events')).at(-1)?.[1]).toMatch(/a idle \[U\+202E\]gnitset$/);
    expect(opened.trouble).toEqual([]);
  });

  test.each([390, 1440])('at a width of %i keys reach what can be used, and one sees where they are', async (width) => {
    await using dashboard = await extremeDashboard();
    await using opened = await open(dashboard.url);
    const { page } = opened;
    await page.setViewportSize({ width, height: 700 });
    await opened.drawn();
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

  test('scrolled down, it stays in view whether the numbers are live, and their age', async () => {
    await using dashboard = await extremeDashboard();
    await using opened = await open(dashboard.url);
    const { page } = opened;
    const height = 600;
    const isInView = async (...ids: string[]) => {
      const boxes = await Promise.all(ids.map((id) => page.locator(id).boundingBox()));
      return boxes.every((box) => box !== null && box.y >= 0 && box.y + box.height < height / 2);
    };
    const atWidths = async (check: () => Promise<void>) => {
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height });
        await page.mouse.wheel(0, 100_000);
        await expect.poll(() => page.evaluate<number>('scrollY'), { timeout: 5000 }).toBeGreaterThan(1000);
        await check();
      }
    };
    await atWidths(async () => {
      expect([await opened.status(), await page.locator('#age').isHidden()]).toEqual(['Live', true]);
      expect(await isInView('#status')).toBe(true);
    });
    await dashboard.scheduler.close();
    const ended = performance.now();
    // s that the last sample was older than the end: a second at most, and as much as a busy machine adds
    let older: number | undefined;
    for (const seconds of [4, 7]) {
      await page.waitForTimeout(seconds * 1000 - (performance.now() - ended));
      // the text follows each second, on an idle machine
      await expect.poll(() => opened.number('#age'), { timeout: 10_000 }).toBeGreaterThanOrEqual(seconds - 1.5);
      const age = await opened.number('#age');
      const beyond = age - (performance.now() - ended) / 1000;
      older ??= Math.max(beyond, 1);
      expect(older).toBeLessThan(5);
      expect(beyond).toBeLessThanOrEqual(older + 0.5);
    }
    await atWidths(async () => {
      expect(await opened.status()).toBe('Ended');
      expect(await isInView('#status', '#age', '#banner')).toBe(true);
      const faults = async () => (await page.evaluate<{ faults: string[] }>(findFaults)).faults;
      await expect.poll(faults, { timeout: 10_000 }).toEqual([]);
    });
  });
});

test('both columns of a desk are full, without durable timers too', async () => {
  await using dashboard = await served();
  await using opened = await open(dashboard.url, 0);
  expect(await opened.page.evaluate<number>(columnsApart)).toBeLessThan(200);
});
