import { describe, expect, test } from 'vitest';
import { DELIVERED, type DeferredTimer, HANDED_BACK, PLACED } from '../../src/client/deferral.ts';
import { isYoung, Nursery } from '../../src/client/nursery.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

/** A timer that only knows where it is. */
class Timer implements DeferredTimer {
  readonly _onTimeout = undefined;
  handle = Number.NaN;
  isHandedBack = false;
  deadline: number;
  readonly context: object | undefined;

  constructor(context: object | undefined, deadline: number) {
    this.context = context;
    this.deadline = deadline;
  }

  [PLACED](handle: number): void {
    this.handle = handle;
  }

  [HANDED_BACK](): void {
    this.isHandedBack = true;
  }

  [DELIVERED](): void {
    throw new Error('the nursery delivers nothing by itself');
  }
}

function add(nursery: Nursery, deadline: number, context?: object): Timer {
  if (nursery.isFull) nursery.grow();
  const timer = new Timer(context, deadline);
  timer.handle = nursery.add(timer, context, deadline);
  return timer;
}

/** What is due by a time. */
function due(nursery: Nursery, by: number, isOpen = false) {
  const taken: Timer[] = [];
  if (!isOpen) nursery.ripen();
  nursery.takeDue(by, (timer, context, deadline) => {
    expect([context, deadline]).toEqual([(timer as Timer).context, (timer as Timer).deadline]);
    taken.push(timer as Timer);
  });
  return taken;
}

const refuse = (): number => {
  throw new Error('no slot is left');
};

describe('Nursery', () => {
  test('hands over what is due in the order of its setting, and knows the earliest of the rest', () => {
    const nursery = new Nursery();
    const [late, first, cleared, second] = [30, 10, 5, 9].map((deadline) => add(nursery, deadline));
    nursery.remove(cleared.handle);
    expect([nursery.size, nursery.earliest]).toEqual([3, 5]);
    expect(due(nursery, 10)).toEqual([first, second]);
    expect([nursery.size, nursery.earliest]).toEqual([1, 30]);
    expect(due(nursery, 29)).toEqual([]);
    expect(due(nursery, 30)).toEqual([late]);
    expect([nursery.size, nursery.earliest]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  test('promotes what is far from due, and moves the others up', () => {
    const nursery = new Nursery();
    const contexts = [{ of: 'near' }, { of: 'far' }];
    const [far, near] = [add(nursery, 100, contexts[1]), add(nursery, 3, contexts[0])];
    nursery.promote(8, (timer, context, deadline) => {
      expect([timer, context, deadline]).toEqual([far, contexts[1], 100]);
      return 17;
    });
    expect(far.handle).toBe(17);
    expect(isYoung(far.handle)).toBe(false);
    expect(isYoung(near.handle)).toBe(true);
    expect([nursery.size, nursery.deadlineOf(near.handle)]).toEqual([1, 3]);
    expect(due(nursery, 3)).toEqual([near]);
  });

  test('does not hand over what was set while a phase of the event loop was open', () => {
    const nursery = new Nursery();
    const before = [add(nursery, 1), add(nursery, 20), add(nursery, 2)];
    expect(due(nursery, 1)).toEqual([before[0]]);
    expect(nursery.hasUnripe).toBe(false);
    const meanwhile = add(nursery, 2);
    expect(nursery.hasUnripe).toBe(true);
    expect(due(nursery, 3, true)).toEqual([before[2]]);
    expect(nursery.earliest).toBe(2);
    nursery.promote(8, () => 0); // closes the gaps
    expect(due(nursery, 3, true)).toEqual([]);
    expect(due(nursery, 3)).toEqual([meanwhile]);
  });

  test('keeps what is refused', () => {
    const nursery = new Nursery();
    const timers = [50, 60, 70].map((deadline) => add(nursery, deadline, {}));
    let slots = 1;
    nursery.promote(0, () => (slots-- > 0 ? 4 : refuse()));
    expect(timers.map(({ handle }) => isYoung(handle))).toEqual([false, true, true]);
    expect([nursery.size, nursery.earliest]).toEqual([2, 60]);
    expect(due(nursery, 100)).toEqual(timers.slice(1));
  });

  test('tells those of a closed client, once', () => {
    const nursery = new Nursery();
    const [kept, cleared] = [add(nursery, 1), add(nursery, 2)];
    nursery.remove(cleared.handle);
    expect([...nursery.unfired()]).toEqual([{ timer: kept, deadline: 1 }]);
    nursery.handBack();
    expect([kept.isHandedBack, cleared.isHandedBack, nursery.size]).toEqual([true, false, 0]);
    expect([...nursery.unfired()]).toEqual([]);
  });

  test(`random use: none is lost, doubled, early or late (seed ${SEED})`, () => {
    const draws = new Draws(SEED);
    const nursery = new Nursery();
    const young: Timer[] = [];
    const filed = new Map<number, Timer>();
    const leave = (timer: Timer) => void young.splice(young.indexOf(timer), 1);
    let [now, slot, fired, moved] = [0, 0, 0, 0];
    for (let step = 0; step < 10_000; step++) {
      const choice = draws.below(20);
      if (choice < 10) young.push(add(nursery, now + draws.below(40), draws.below(2) === 0 ? {} : undefined));
      else if (choice < 13 && young.length > 0) {
        const timer = draws.pick(young);
        nursery.remove(timer.handle);
        leave(timer);
      } else if (choice < 16 && young.length > 0) {
        const timer = draws.pick(young);
        timer.deadline = now + draws.below(40);
        nursery.move(timer.handle, timer.deadline);
        moved += 1;
      } else if (choice < 18) {
        now += draws.below(4);
        const expected = young.filter(({ deadline }) => deadline <= now);
        const taken = due(nursery, now);
        expect(new Set(taken)).toEqual(new Set(expected));
        expect(taken.length).toBe(expected.length);
        for (const timer of taken) leave(timer);
        fired += taken.length;
      } else if (choice === 18) {
        const room = draws.below(4) === 0 ? draws.below(3) : Number.POSITIVE_INFINITY;
        const far = young.filter(({ deadline }) => deadline > now + 8);
        let given = 0;
        nursery.promote(now + 8, (timer) => {
          if (given === room) refuse();
          given += 1;
          slot += 1;
          filed.set(slot, timer as Timer);
          return slot;
        });
        expect(given).toBe(Math.min(room, far.length));
        for (const timer of far) if (filed.get(timer.handle) === timer) leave(timer);
      }
      expect(nursery.size).toBe(young.length);
      expect(nursery.earliest).toBeLessThanOrEqual(
        young.reduce((least, { deadline }) => Math.min(least, deadline), Number.POSITIVE_INFINITY),
      );
    }
    for (const timer of young) expect(nursery.deadlineOf(timer.handle)).toBe(timer.deadline);
    expect(Math.min(fired, moved, filed.size)).toBeGreaterThan(200);
  });
});
