import type { Browser, Page } from 'playwright-core';

/** A page of a dashboard in a browser, and whatever goes wrong in it. */
export class OpenedPage implements AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts, and what the console has to say. */
  readonly trouble: string[] = [];
  /** Addresses that were asked for, of whatever kind. */
  readonly asked: string[] = [];

  static async open(browser: Browser, url: string, options: Parameters<Browser['newPage']>[0] = {}) {
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

  /** The cells of a table, by rows. */
  rows(selector: string): Promise<string[][]> {
    return this.page
      .locator(`${selector} tbody tr`)
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  }

  status(): Promise<string | null> {
    return this.page.textContent('#status');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
  }
}
