// Takes pictures of the dashboard under the replay's load: those of docs/images; with `--whole`, of all of it, and more of them:
//
//     node dist/bench/dashboard/screenshots.js [folder] [seconds] [--whole] [flags of the replay …]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchChromium } from './browser.ts';
import { startReplay } from './watched-replay.ts';

const [folder = 'docs/images', seconds = '100', ...rest] = process.argv.slice(2);
const flags = rest.filter((flag) => flag !== '--whole');
const fullPage = rest.includes('--whole');
mkdirSync(folder, { recursive: true });
const replay = await startReplay(['--cps', '20000', '--seconds', '600', '--dashboard', '0', ...flags]);
const browser = await launchChromium();
try {
  const desk = { width: 1330, height: 570 };
  const phone = { width: 390, height: 540 };
  const inDocs = [
    { name: 'dashboard-light', colorScheme: 'light', viewport: desk },
    { name: 'dashboard-dark', colorScheme: 'dark', viewport: phone },
  ] as const;
  const others = [
    { name: 'dashboard-dark-desk', colorScheme: 'dark', viewport: desk },
    { name: 'dashboard-light-phone', colorScheme: 'light', viewport: phone },
  ] as const;
  const views = fullPage ? [...inDocs, ...others] : inDocs;
  const pages = await Promise.all(
    views.map(async (view) => {
      const page = await browser.newPage({ colorScheme: view.colorScheme, viewport: view.viewport });
      page.on('console', (message) => console.error(`${view.name}: ${message.text()}`));
      page.on('pageerror', (error) => console.error(`${view.name}: ${error.message}`));
      await page.goto(replay.url ?? '');
      return page;
    }),
  );
  await sleep(Number(seconds) * 1000);
  for (const [at, page] of pages.entries()) {
    await page.bringToFront();
    await page.waitForTimeout(2500);
    await page.screenshot({ path: join(folder, `${views[at].name}.png`), fullPage });
  }
} finally {
  await browser.close();
  replay.stop();
  await replay.result.catch(() => undefined); // it was ended early
}
