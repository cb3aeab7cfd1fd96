import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pause, type Stores, soon } from './stores.ts';

let made = 0;

/** A name that nobody has been warned of. */
function newName(): string {
  made += 1;
  return `warned ${process.pid} ${made}`;
}

/** What a process is told by itself, once of each name. */
export function testWarnings(stores: Stores): void {
  describe('warnings', () => {
    let warnings: { code?: string; message: string }[];
    const note = (warning: Error): void => void warnings.push(warning);
    beforeEach(() => {
      warnings = [];
      process.on('warning', note);
    });
    afterEach(() => void process.off('warning', note));
    const of = (code: string): string[] => warnings.filter((each) => each.code === code).map(({ message }) => message);

    test.each([0, 60_000])('of attempts that fail and that nobody hears of, persistAfter %i', async (persistAfter) => {
      const timers = await stores.start({ persistAfter, retry: { attempts: 2, delay: 5 } });
      const names = [newName(), newName()];
      const fail = (): never => {
        throw new Error('broken');
      };
      for (const name of names) {
        timers.handle(name, fail);
        for (const key of ['k', 'l']) await timers.schedule(name, key, soon(0));
      }
      await stores.until(async () => (await timers.stats()).died === 4);
      await stores.until(() => of('SHARDWHEEL_FAILED').length === 2);
      for (const name of names) {
        const told = `An attempt of a timer of '${name}' has failed: broken. Nobody listens: durable.on('failed', `;
        expect(of('SHARDWHEEL_FAILED').filter((message) => message.startsWith(told))).toHaveLength(1);
      }
    });

    test.each(['failed', 'dead'] as const)("none where somebody listens to '%s'", async (event) => {
      const timers = await stores.start({ retry: { attempts: 1 } });
      timers.on(event, () => undefined);
      const name = newName();
      timers.handle(name, () => Promise.reject(new Error('broken')));
      await timers.schedule(name, 'k', soon(0));
      await stores.until(async () => (await timers.stats()).died === 1);
      await pause(20);
      expect(of('SHARDWHEEL_FAILED')).toEqual([]);
    });

    test.each([
      ['', []],
      [' among those that it handles', [newName()]],
    ])('of timers that are overdue by 10 s, and that the process does not handle%s', async (_, handled) => {
      const timers = await stores.start();
      for (const name of handled) timers.handle(name, () => undefined);
      const overdue = [newName(), newName()];
      for (const name of [...overdue, ...handled]) await timers.schedule(name, 'k', Date.now() - 60_000);
      for (const name of overdue) await timers.schedule(name, 'l', Date.now() - 60_000);
      const later = newName();
      await timers.schedule(later, 'k', Date.now() + 60_000);
      await expect.poll(() => of('SHARDWHEEL_UNHANDLED').length, { timeout: 60_000 }).toBe(2);
      await pause(6000); // another look
      const told = of('SHARDWHEEL_UNHANDLED').sort();
      expect(told).toEqual(
        overdue.map(
          (name) =>
            `Timers of '${name}' are overdue by more than 10 s, and this process has no handler for them. ` +
            `Call durable.handle('${name}', …) here, or start the process that does`,
        ),
      );
    });
  });
}
