import * as node from 'node:timers';
import defaults, { type Timers } from 'shardwheel/timers';
import { describe, expect, test, vi } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { until } from '../fixtures/event-loop.ts';
import { subjects } from './subjects.ts';

/** What a program sees of an object that is a timer. */
interface Item {
  _idleTimeout?: number;
  _onTimeout?: ((...given: unknown[]) => unknown) | null;
  _timerArgs?: unknown[];
  _repeat?: number;
  _destroyed?: boolean;
  _idleStart?: number;
  _idleNext?: unknown;
  _idlePrev?: unknown;
}

const names = ['enroll', 'unenroll', 'active', '_unrefActive'] as const;
type Enrolled = Pick<Required<Timers>, (typeof names)[number]>;
const isThere = names.every((name) => typeof (node as Partial<Enrolled>)[name] === 'function');

test('the face has the functions where this Node has them', () => {
  for (const name of names) expect([name, typeof defaults[name]]).toEqual([name, isThere ? 'function' : 'undefined']);
});

/** The same from each: what Node does is right. */
const faces = subjects.map(({ name, timers }) => {
  const enrolled = { ...timers, ...(timers as { default?: object }).default } as unknown as Enrolled;
  return { name, timers, enrolled };
});

describe.runIf(isThere).each(faces)('$name: an object as a timer', ({ timers, enrolled }) => {
  const { enroll, unenroll, active, _unrefActive } = enrolled;
  const pause = (delay = 30) => new Promise<void>((resolve) => timers.setTimeout(resolve, delay));
  const itemFor = (onTimeout: Item['_onTimeout'], delay = 2): Item => {
    const item: Item = { _onTimeout: onTimeout };
    enroll(item, delay);
    return item;
  };

  test('it is called once, as its own method, when it was active for its time', async () => {
    const seen: unknown[] = [];
    const item = itemFor(function (this: unknown, ...given) {
      seen.push(this === item, given);
    });
    await pause();
    expect(seen).toEqual([]);
    active(item);
    expect([Number.isInteger(item._idleStart), item._idleTimeout, item._destroyed]).toEqual([true, 2, false]);
    expect([Boolean(item._idleNext), Boolean(item._idlePrev)]).toEqual([true, true]);
    await pause();
    expect(seen).toEqual([true, []]);
    expect([item._idleNext, item._idlePrev, item._destroyed, item._idleTimeout]).toEqual([null, null, true, 2]);
  });

  test('it starts again with each call of active, also after it was called, and within', async () => {
    const fired = vi.fn();
    const item = itemFor(fired);
    active(item);
    active(item);
    await until(() => fired.mock.calls.length >= 1);
    await pause();
    expect(fired).toHaveBeenCalledTimes(1);
    active(item);
    await until(() => fired.mock.calls.length >= 2);
    await pause();
    expect(fired).toHaveBeenCalledTimes(2);
    item._onTimeout = () => {
      fired();
      if (fired.mock.calls.length < 5) active(item);
    };
    _unrefActive(item);
    await until(() => fired.mock.calls.length >= 5);
    await pause();
    expect(fired).toHaveBeenCalledTimes(5);
  });

  test('it can be activated without being enrolled, and takes arguments and a period', async () => {
    const calls: unknown[][] = [];
    const item: Item = {
      _idleTimeout: 1,
      _timerArgs: ['an', 'argument'],
      _repeat: 2,
      _onTimeout: (...given) => {
        calls.push(given);
        if (calls.length === 3) unenroll(item);
      },
    };
    active(item);
    await until(() => calls.length >= 3);
    await pause();
    expect(calls).toEqual(Array.from({ length: 3 }, () => ['an', 'argument']));
    expect([item._idleTimeout, item._destroyed]).toEqual([-1, true]);
  });

  test('unenroll ends it, as do clearTimeout and a missing callback', async () => {
    const fired = vi.fn();
    const items = [itemFor(fired), itemFor(fired), itemFor(fired)];
    for (const item of items) active(item);
    unenroll(items[0]);
    unenroll(items[0]);
    timers.clearTimeout(items[1] as NodeJS.Timeout);
    items[2]._onTimeout = null;
    await pause();
    expect(fired).not.toHaveBeenCalled();
    expect(items.map(({ _idleTimeout, _destroyed }) => [_idleTimeout, _destroyed])).toEqual([
      [-1, true],
      [-1, true],
      [2, true],
    ]);
    expect(items[1]._onTimeout).toBe(null);
    enroll(items[0], 1);
    active(items[0]);
    await until(() => fired.mock.calls.length >= 1);
    await pause();
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('enroll ends what waits, and takes its new time', async () => {
    const fired = vi.fn();
    const item = itemFor(fired);
    active(item);
    enroll(item, 5);
    expect(item._idleTimeout).toBe(5);
    await pause();
    expect(fired).not.toHaveBeenCalled();
    active(item);
    await until(() => fired.mock.calls.length >= 1);
    await pause();
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('what has no time is left alone', () => {
    for (const item of [{}, { _idleTimeout: -1 }, { _idleTimeout: undefined }] as Item[]) {
      const before = { ...item };
      active(item);
      _unrefActive(item);
      expect(item).toEqual(before);
    }
  });

  test('timeouts are items, too', async () => {
    const fired = vi.fn();
    unenroll(timers.setTimeout(fired, 1));
    const unref = timers.setTimeout(fired, 1).unref();
    active(unref);
    expect(unref.hasRef()).toBe(true);
    const ref = timers.setTimeout(fired, 1);
    _unrefActive(ref);
    await until(() => fired.mock.calls.length >= 2);
    await pause();
    expect(fired).toHaveBeenCalledTimes(2);
  });

  test('what is no item is refused as Node refuses it', () => {
    const refusal = (call: () => void): unknown => {
      try {
        call();
      } catch (error) {
        const { name, code } = error as NodeJS.ErrnoException;
        return [name, code];
      }
      return undefined;
    };
    const bad = [undefined, null, 5, 'x', {}, Object.freeze({ _idleTimeout: 1 }), Symbol('s')] as never[];
    const delays = [undefined, null, 'x', -1, Number.NaN, Number.POSITIVE_INFINITY, 1, 0.5] as never[];
    let cases = 0;
    for (const call of names) {
      for (const item of bad) {
        for (const delay of call === 'enroll' ? delays : [1 as never]) {
          const fate = (face: Enrolled) => refusal(() => face[call](item, delay));
          expect([call, String(item), String(delay), fate(enrolled)]).toEqual([
            call,
            String(item),
            String(delay),
            fate(node as unknown as Enrolled),
          ]);
          cases += 1;
        }
      }
    }
    expect(cases).toBe(7 * (8 + 3));
  });
});

test.runIf(isThere)("items hold the process as Node's do, and Node's warnings come", async () => {
  const program = (module: string, call: string) => `import timers from '${module}';
    const item = { _onTimeout: () => console.log('called') };
    timers.enroll(item, 50);
    timers.${call}(item);
    timers.unenroll({});`;
  for (const call of ['active', '_unrefActive']) {
    const [right, ours] = await Promise.all(
      ['node:timers', 'shardwheel/timers'].map((module) => runText(program(module, call))),
    );
    const codes = (stderr: string) => [...stderr.matchAll(/DEP\d+/g)].map(String).sort();
    expect(codes(right.stderr).length).toBe(3);
    expect({ ...ours, stderr: codes(ours.stderr) }).toEqual({ ...right, stderr: codes(right.stderr) });
    expect(right.stdout).toBe(call === 'active' ? 'called\n' : '');
  }
});
