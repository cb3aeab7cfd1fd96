import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchChromium } from '../../tools/screenshots/chromium.ts';

/** Of the suite that imports this. */
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** A page of a dashboard in a browser, and whatever goes wrong in it. */
export class OpenedPage implements AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts, and what the console has to say. */
  readonly trouble: string[] = [];
  /** Addresses that were asked for, of whatever kind. */
  readonly asked: string[] = [];

  static async open(url: string, options: Parameters<Browser['newPage']>[0] = {}) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 2200 }, ...options });
    const opened = new OpenedPage(page);
    await page.goto(url);
    return opened;
  }

  private constructor(page: Page) {
    this.page = page;
    page.on('console', (message) => this.trouble.push(message.text()));
    page.on('pageerror', (error) => this.trouble.push(error.message));
    page.on('request', (request) => this.asked.push(request.url()));
  }

  /** A number that the page shows, whatever stands around it; NaN where it shows none. */
  async number(selector: string): Promise<number> {
    const text = (await this.page.locator(selector).first().textContent({ timeout: 5000 })) ?? '';
    return Number(/[\d,]+(\.\d+)?/.exec(text)?.[0].replaceAll(',', '') ?? Number.NaN);
  }

  /** The cells of a table, by rows: of the table in this place, or that of a selector. */
  rows(place: string | Locator): Promise<string[][]> {
    return (typeof place === 'string' ? this.page.locator(place) : place)
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  }

  /** Resolves when what follows from a change of the page, such as of its size, has been drawn. */
  async drawn(): Promise<void> {
    await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
  }

  status(): Promise<string | null> {
    return this.page.textContent('#status');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
  }
}
