// Takes pictures of the dashboard under the replay's load: those of docs/images; with `--whole`, of all of it, and more
// of them:
//
//     npm run build && node dist/tools/screenshots/main.js [folder] [seconds] [--whole] [flags of the replay …]
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asPart, commandFile } from '../../bench/replay/command-file.ts';
import { parseOptions } from '../../bench/replay/options.ts';
import { launchChromium } from './chromium.ts';

const [folder = 'docs/images', seconds = '100', ...rest] = process.argv.slice(2);
const flags = rest.filter((flag) => flag !== '--whole');
const fullPage = rest.includes('--whole');
mkdirSync(folder, { recursive: true });
const options = parseOptions(['--cps', '20000', '--seconds', '600', '--shards', 'auto', '--dashboard', '0', ...flags]);
const replay = fork(commandFile, asPart('replay-process', JSON.stringify(['shardwheel', options])), {
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
});
const url = await new Promise<string>((resolve, reject) => {
  replay.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const [, found] = /^dashboard\s+(\S+)$/m.exec(text) ?? [];
    if (found !== undefined) resolve(found);
  });
  replay.once('exit', (code) => reject(new Error(`The replay has ended with exit code ${code}`)));
});
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
    views.map(async ({ name, ...view }) => {
      const page = await browser.newPage(view);
      page.on('console', (message) => console.error(`${name}: ${message.text()}`));
      page.on('pageerror', (error) => console.error(`${name}: ${error.message}`));
      await page.goto(url);
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
  replay.kill('SIGINT');
}
