import type { Scheduler } from 'shardwheel';
import { afterEach, expect, test } from 'vitest';
import { internalsOf } from '../fixtures/internals.ts';

// The very classes that the scheduler runs on: the modules as the compiler wrote them.
const built = (path: string) => import(new URL(`../../dist/src/${path}.js`, import.meta.url).href);
const { createScheduler } = (await built('entries/index')) as typeof import('shardwheel');
const { TimerTable } = (await built('lane/timer-table')) as typeof import('../../src/lane/timer-table.ts');
const { TableView } = (await built('lane/table-view')) as typeof import('../../src/lane/table-view.ts');
const { Payload } = (await built('client/payload')) as typeof import('../../src/client/payload.ts');
const { buildShard, serveLane } = (await built('shard/build-shard')) as typeof import('../../src/shard/build-shard.ts');
const { allocateDoorbell, ClientBell } = (await built('lane/doorbell')) as typeof import('../../src/lane/doorbell.ts');
const { presets } = (await built('wheel/presets')) as typeof import('../../src/wheel/presets.ts');

/** Looks at a timer's record by client or shard, and payloads let go of. */
let looks = 0;
const restores: (() => void)[] = [];

function count(prototype: object, ...names: string[]): void {
  const methods = prototype as Record<string, (...words: number[]) => unknown>;
  for (const name of names) {
    const original = methods[name];
    methods[name] = function (this: unknown, ...words: number[]) {
      looks += 1;
      return original.apply(this, words);
    };
    restores.push(() => {
      methods[name] = original;
    });
  }
}

afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

/** An index built from the table, as in the place of a thread that died. */
function rebuild(scheduler: Scheduler): number {
  const { client } = internalsOf(scheduler);
  const setup = {
    number: 0,
    tick: 1,
    wheel: presets.default,
    clock: client.clock.memory,
    doorbell: allocateDoorbell(),
  };
  const lane = { memory: client.lanes[0].memory, clientBell: ClientBell.allocate() };
  return serveLane(buildShard(setup), lane, 'tables').found;
}

// The command ring holds 2^16: behind it all the others wait.
test.each([2 ** 15, 2 ** 17, 2 ** 20])(
  'with %i timers each is looked at as often as with any other number',
  async (timers) => {
    count(TimerTable.prototype, 'tagOf', 'isLive');
    count(TableView.prototype, 'tagOf');
    count(Payload.prototype, 'clear', 'take');
    const each = async (work: () => unknown): Promise<number> => {
      looks = 0;
      await work();
      return looks / timers;
    };
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: timers });
    const ids = new Float64Array(timers);
    let fired = 0;
    const fill = async (now: number, then = now + 0.5) => {
      for (let i = 0; i < timers; i++) {
        ids[i] = scheduler.schedule(0, now + 1 + ((i * 7919) % 60_000), () => {
          fired += 1;
        });
      }
      await scheduler.advanceTo(then);
    };
    const seen = {
      scheduleAndPublish: await each(() => fill(0)),
      rebuild: await each(() => expect(rebuild(scheduler)).toBe(timers)),
      fire: await each(() => scheduler.advanceTo(60_000, { jump: true })),
      again: await each(() => fill(60_000)),
      cancel: await each(() => scheduler.cancelMany(ids)),
      afterCancel: await each(() => fill(60_000, 60_000.75)),
      close: await each(() => scheduler.close()),
    };
    expect(fired).toBe(timers);
    const least = { scheduleAndPublish: 2, rebuild: 2, fire: 4, again: 2, cancel: 1, afterCancel: 2, close: 2 };
    const most = { ...least, fire: 5 }; // the shard reads those ahead that come due with others
    // A turn that finds the ring full looks at the first chunk of what waits behind it, once more.
    for (const [name, looks] of Object.entries(seen)) {
      expect(looks, name).toBeGreaterThanOrEqual(least[name as keyof typeof least]);
      expect(looks, name).toBeLessThan(most[name as keyof typeof most] + 0.1);
    }
  },
);
