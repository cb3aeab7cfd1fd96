import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createScheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { describe, expect, test } from 'vitest';
import { Ledger } from '../exporters/ledger.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { OpenedPage } from './opened-page.ts';
import { served } from './served.ts';

/** Until the page shows it: samples come once a second, and some of what is shown follows every other. */
const shows = (what: () => Promise<unknown>) => expect.poll(what, { interval: 50, timeout: 15_000 });

const whole = (text: string): number => Number(text.replaceAll(',', ''));

describe('the numbers', () => {
  test(`of two shards under load are the ledger's, while it works and after, seed ${SEED}`, async () => {
    await using shown = await served({}, 2);
    await using opened = await OpenedPage.open(shown.url);
    const { page } = opened;
    const draws = new Draws(SEED);
    const ledger = new Ledger(shown.scheduler, draws, ['idle', 'request']);
    await page.locator('#histogram summary').click();
    await shows(() => opened.status()).toBe('Live');
    for (let round = 0; round < 250; round++) {
      const to = draws.pick([1, 20, 300, 3_600_000]);
      ledger.work(100, to, to / 2);
      await pass(10);
      if (round < 100 || round % 10 !== 0) continue;
      // A sample is at most a second old, and is drawn at once; the machine may add to it.
      expect(await opened.number('[data-note=scheduled]')).toBeLessThanOrEqual(ledger.all.scheduled);
      expect(await opened.number('[data-note=cancelled]')).toBeLessThanOrEqual(ledger.all.cancelled);
    }
    expect(await opened.number('[data-value=scheduled]')).toBeGreaterThan(0);
    // what is live is due in half an hour, or later
    await until(() => ledger.isDelivered(shown.scheduler.now() + 1000));
    const expected = [
      ledger.all.live,
      ledger.all.scheduled,
      ledger.all.cancelled,
      ledger.rescheduled,
      ledger.all.delivered,
    ];
    const told = () =>
      Promise.all([
        opened.number('[data-value=live]'),
        ...['scheduled', 'cancelled', 'moved', 'delivered'].map((name) => opened.number(`[data-note=${name}]`)),
      ]);
    await shows(told).toEqual(expected);
    expect(Math.min(...expected)).toBeGreaterThan(100);

    await shows(async () => whole((await opened.rows('#histogram'))[0][2])).toBe(ledger.all.delivered);
    const histogram = await opened.rows('#histogram');
    expect(histogram.slice(7).reduce((sum, [, , count]) => sum + whole(count), 0)).toBe(ledger.all.delivered);

    const sum = (rows: string[][], cell: number): number => rows.reduce((so, row) => so + whole(row[cell]), 0);
    await shows(async () => sum(await opened.rows('#shards'), 2)).toBe(ledger.all.live);
    // A shard hears of no cancellation: it keeps the timer filed until its tick comes, or its slot is used again.
    const filed = async () => sum(await opened.rows('#lanes'), 2);
    await shows(filed).toBeGreaterThanOrEqual(ledger.all.live); // as soon as a shard has answered in time
    expect(await filed()).toBeLessThanOrEqual(ledger.all.live + ledger.all.cancelled);
    await shows(async () => (await opened.rows('#labels')).map(([label, live]) => [label, whole(live)]).sort()).toEqual(
      [...ledger.byLabel].map(([label, { live }]) => [label, live]),
    );
    const shards = await opened.rows('#shards');
    expect(shards.map(([shard, served]) => [shard, served])).toEqual([
      ['0', 'by a thread'],
      ['1', 'by a thread'],
    ]);
    // A wheel has at least an entry for each timer.
    const entries = async () => sum(await opened.rows('#dials'), 4);
    await shows(entries).toBeGreaterThanOrEqual(ledger.all.live);
    const inks = await page.evaluate<number[]>(`[...document.querySelectorAll('.dial canvas')].map((canvas) => new Set(
      new Uint32Array(canvas.getContext('2d').getImageData(0, 0, 288, 288).data.buffer)).size)`);
    expect(inks).toHaveLength(2);
    expect(Math.min(...inks)).toBeGreaterThan(4); // background, track, entries, hand, text
    expect(opened.trouble).toEqual([]);
    const asked = opened.asked.filter((address) => !address.startsWith('data:'));
    expect(asked).toEqual([shown.url, `${shown.url}events?from=0`]);
  });

  test('of a shared scheduler are those of all clients', async () => {
    await using shown = await served({}, 1);
    await using client = ClientThread.connect(shown.scheduler.share());
    await client.run(({ scheduler }) => {
      for (let i = 0; i < 30; i++) scheduler.scheduleAfter(i, 3_600_000);
    });
    for (let i = 0; i < 12; i++) shown.scheduler.scheduleAfter(i, 3_600_000);
    await using opened = await OpenedPage.open(shown.url);
    await shows(() => opened.number('[data-value=live]')).toBe(42);
    await shows(() => opened.rows('#clients')).toHaveLength(2);
    const rows = await opened.rows('#clients');
    expect(rows.map(([name, , live, scheduled]) => [name, live, scheduled])).toEqual([
      ['owner', '12', '12'],
      ['1', '30', '30'],
    ]);
    await shows(async () => (await opened.rows('#lanes')).map(([name, , filed]) => [name, filed])).toEqual([
      ['owner', '12'],
      ['1', '30'],
    ]);
  });
});

describe('the page', () => {
  test('asks no other host, and runs nothing that was put into it', async () => {
    await using shown = await served();
    await using opened = await OpenedPage.open(shown.url);
    let visits = 0;
    const other = createServer((_, response) => {
      visits += 1;
      response.setHeader('Access-Control-Allow-Origin', '*').end();
    }).listen(0, '127.0.0.1');
    await until(() => other.listening);
    const { port } = other.address() as AddressInfo;
    const { page } = opened;
    const found = await page.evaluate(`(async () => {
      const address = 'http://127.0.0.1:${port}/';
      const answer = await fetch(address).then(() => 'answered', () => 'refused');
      for (const [tag, properties] of [
        ['script', { textContent: 'window.ran = true' }],
        ['script', { src: address }],
        ['img', { src: address }],
        ['iframe', { src: address }],
      ]) document.body.append(Object.assign(document.createElement(tag), properties));
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { answer, ran: window.ran };
    })()`);
    expect(found).toEqual({ answer: 'refused', ran: undefined });
    expect(visits).toBe(0);
    // the console says what the policy has refused
    await expect.poll(() => opened.trouble.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(5);
    expect(opened.trouble.every((text) => text.includes('Content Security Policy') || text.includes('Fetch'))).toBe(
      true,
    );
    other.close();
  });

  test('is light or dark as the system is, or as its button says, and remembers that', async () => {
    await using shown = await served();
    await using opened = await OpenedPage.open(shown.url, { colorScheme: 'light' });
    const { page } = opened;
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await ground();
    expect(dark).not.toBe(light);
    const button = page.locator('#theme');
    await button.click();
    expect([await button.textContent(), await ground()]).toEqual(['Theme: light', light]);
    await page.reload();
    expect([await button.textContent(), await ground()]).toEqual(['Theme: light', light]);
    await button.click();
    await page.emulateMedia({ colorScheme: 'light' });
    expect([await button.textContent(), await ground()]).toEqual(['Theme: dark', dark]);
  });

  test('draws nothing while it is not seen, and what is new once it is', async () => {
    await using shown = await served();
    await using opened = await OpenedPage.open(shown.url);
    const { page } = opened;
    await shows(() => opened.number('[data-value=live]')).toBe(0);
    await page.evaluate("Object.defineProperty(document, 'hidden', { get: () => window.isHidden })");
    await page.evaluate('window.isHidden = true');
    shown.scheduler.scheduleAfter(0, 3_600_000);
    await pass(2500);
    expect(await opened.number('[data-value=live]')).toBe(0);
    await page.evaluate("window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))");
    await shows(() => opened.number('[data-value=live]')).toBe(1);
  });

  test('says that the scheduler was closed, and shows the next one that is served there', async () => {
    const first = await served();
    await using opened = await OpenedPage.open(first.url);
    const { page } = opened;
    await shows(() => opened.status()).toBe('Live');
    await first.scheduler.close();
    await shows(() => opened.status()).toBe('Ended');
    expect(await page.textContent('#banner')).toContain('The scheduler was closed.');
    await using scheduler = createScheduler({ shards: 0 });
    for (let i = 0; i < 17; i++) scheduler.scheduleAfter(i, 3_600_000);
    await serveDashboard(scheduler, { port: Number(new URL(first.url).port) });
    await shows(() => opened.status()).toBe('Live');
    await shows(() => opened.number('[data-value=live]')).toBe(17);
    expect(await page.locator('#banner').isHidden()).toBe(true);
  });

  test('says why it is refused, where as many look as can', async () => {
    await using shown = await served();
    const aborts = Array.from({ length: 32 }, () => new AbortController());
    const answers = await Promise.all(aborts.map(({ signal }) => fetch(`${shown.url}events`, { signal })));
    await using opened = await OpenedPage.open(shown.url);
    await shows(() => opened.status()).toBe('Refused');
    expect(await opened.page.textContent('#banner')).toContain('32');
    aborts[0].abort();
    await shows(() => opened.status()).toBe('Live');
    for (const abort of aborts) abort.abort();
    expect(answers).toHaveLength(32); // one that is not kept is closed when its memory is collected
  });

  test('with a token: the address has it once, and a cookie from then on', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const token = 'a-token-of-16-characters';
    const { url } = await serveDashboard(scheduler, { port: 0, token });
    await using refused = await OpenedPage.open(url);
    expect(await refused.page.textContent('body')).toContain('needs its token');
    await using opened = await OpenedPage.open(`${url}?token=${token}`);
    await shows(() => opened.status()).toBe('Live');
    expect(opened.page.url()).toBe(url);
    await opened.page.reload();
    await shows(() => opened.status()).toBe('Live');
    expect(opened.trouble).toEqual([]);
  });
});
