import type { Browser } from 'playwright-core';
import { createScheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../bench/dashboard/browser.ts';
import { OpenedPage } from './opened-page.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

test('the page shows what durable timers and their store count', async () => {
  const scheduler = createScheduler({ shards: 0 });
  const durable = await openDurableTimers({ store: memoryStore(), scheduler });
  const { url } = await serveDashboard(scheduler, { port: 0, durable });
  for (let key = 0; key < 1234; key++) await durable.schedule('a', `${key}`, Date.now() + 1e9);
  await durable.cancel('a', '0');
  await using opened = await OpenedPage.open(browser, url);
  const shown = async () => Object.fromEntries(await opened.rows('#durable'));
  await expect
    .poll(shown, { interval: 50, timeout: 15_000 })
    .toMatchObject({ 'Stored, in memory': '1,233', 'Scheduled and cancelled': '1,234 and 1' });
  expect(opened.trouble).toEqual([]);
  await durable.close();
  await scheduler.close();
});
