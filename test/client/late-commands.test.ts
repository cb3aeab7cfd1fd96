import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LateCommands } from '../../src/client/late-commands.ts';
import { RingConsumer as Ring, type RingConsumer, RingProducer } from '../../src/lane/ring.ts';

const CAPACITY = 8;

/** A lane whose timer in slot n has tag n, and is due at tick `dues[n]`; what its shard does is called by the test. */
class FakeLane {
  readonly dues: number[] = [];
  readonly table = {
    tagOf: (slot: number) => slot,
    deadlineOf: (slot: number) => this.dues[slot],
    dueOf: (slot: number) => this.dues[slot],
  };
  readonly commands = { sent: 0, waiting: 0, wantsRoom: false };
  readonly stage = { isServedHere: false };
  readonly ring: RingConsumer;
  fired: RingConsumer;
  requested = 0;
  answered = 0;
  private readonly producer: RingProducer;

  constructor() {
    const memory = { cells: new SharedArrayBuffer(2 * 4 * CAPACITY), stride: 2 };
    const counters = { words: new Int32Array(2), head: 0, tail: 1 };
    this.producer = new RingProducer(memory, counters);
    this.ring = new Ring(memory, counters);
    this.fired = this.ring;
  }

  requestAnswer(): number {
    this.requested += 1;
    return this.requested;
  }

  hasAnswered(request: number): boolean {
    return this.answered >= request;
  }

  releaseFired(): void {
    this.fired.release();
  }

  /** The shard fires timers that are due at these ticks. */
  fire(...dues: number[]): void {
    for (const due of dues) {
      const slot = this.dues.push(due) - 1;
      this.producer.pushPair(slot, slot);
    }
    this.producer.publish();
  }

  answer(): void {
    this.answered = this.requested;
  }
}

describe('what a shard fires after late commands', () => {
  let lane: FakeLane;
  let late: LateCommands;

  beforeEach(() => {
    lane = new FakeLane();
    const time = { dueTickOfRecord: (due: number) => due };
    late = new LateCommands(lane as never, time as never);
  });

  afterEach(() => void vi.unstubAllGlobals());

  /** Takes all that a delivery may take now: its due ticks. */
  function take(): number[] {
    const taken: number[] = [];
    while ((late.state === 'nothing' ? lane.fired.available() : late.available()) > 0) {
      const { fired } = lane;
      for (let left = fired.available(); left > 0; left--) taken.push(lane.dues[fired.cells[fired.take()]]);
      fired.release();
    }
    return taken;
  }

  test('is delivered when it has answered, by due tick, and what comes then as it comes', () => {
    lane.fire(20, 21);
    late.published();
    expect(take()).toEqual([]);
    lane.fire(12, 15, 21, 22);
    expect(take()).toEqual([]);
    lane.answer();
    expect(take()).toEqual([12, 15, 20, 21, 21, 22]);
    expect(late.state).toBe('nothing');
    lane.fire(24, 23);
    expect(take()).toEqual([24, 23]);
    expect(lane.requested).toBe(1);
  });

  test('leaves the shard room, however much that is', () => {
    late.published();
    for (let due = 100; due > 20; due -= CAPACITY) {
      lane.fire(...Array.from({ length: CAPACITY }, (_, at) => due - at));
      expect(take()).toEqual([]);
      expect(lane.ring.available()).toBe(0);
    }
    lane.answer();
    const taken = take();
    expect(taken).toEqual([...taken].sort((one, other) => one - other));
    expect(taken.length).toBe(80);
  });

  test('waits for one more answer if others were late meanwhile; whatever is late then comes after it', () => {
    late.published();
    lane.fire(5);
    lane.answer();
    late.published();
    expect(take(), 'the answer does not cover them').toEqual([]);
    expect(lane.requested).toBe(2);
    lane.fire(4);
    late.published();
    expect(lane.requested).toBe(2);
    lane.answer();
    expect(take()).toEqual([4, 5]);
    expect(lane.requested).toBe(3);
    lane.fire(7, 6);
    expect(take()).toEqual([]);
    lane.answer();
    expect(take()).toEqual([6, 7]);
    expect(late.state).toBe('nothing');
  });

  test('waits until the late commands that found the ring full have been answered, and for no later ones', () => {
    Object.assign(lane.commands, { sent: 10, waiting: 5, wantsRoom: true });
    late.published();
    lane.fire(9);
    lane.answer();
    expect(take()).toEqual([]);
    Object.assign(lane.commands, { sent: 15, waiting: 50 });
    lane.answer();
    expect(take(), 'that request came before').toEqual([]);
    lane.answer();
    expect(take()).toEqual([9]);
  });

  test.each([false, true])('waits for nobody once the shard is in this thread; others were late: %s', (isAgain) => {
    late.published();
    lane.fire(3, 2);
    for (let times = isAgain ? 2 : 0; times > 0; times--) late.published();
    lane.stage.isServedHere = true;
    expect(take()).toEqual([2, 3]);
    expect(late.state).toBe('nothing');
    expect(lane.requested).toBe(isAgain ? 2 : 1);
  });

  test('is delivered in parts where there is no memory for all, and none before it has its turn', () => {
    const { Int32Array: Whole } = globalThis;
    let granted = 4; // words
    vi.stubGlobal(
      'Int32Array',
      new Proxy(Whole, {
        construct(target, given, newTarget) {
          if (given[0] > granted) throw new RangeError('refused by the test');
          return Reflect.construct(target, given, newTarget);
        },
      }),
    );
    late.published();
    lane.fire(9, 8, 7, 6, 5);
    lane.answer();
    expect(take()).toEqual([5, 6, 7, 8, 9]);
    late.published();
    lane.fire(4, 3);
    lane.answer();
    granted = 0;
    expect([take(), late.state]).toEqual([[], 'delivering']);
    lane.fire(10);
    expect(take()).toEqual([]);
    granted = 2;
    expect(take()).toEqual([3, 4, 10]);
  });

  test('is found before it is delivered, wherever it waits', () => {
    const slots = () => [...late.firedSlots()].map((slot) => lane.dues[slot]);
    lane.fire(4);
    late.published();
    take();
    lane.fire(1);
    expect(slots()).toEqual([4, 1]);
    lane.answer();
    late.available();
    lane.fire(6);
    expect(slots()).toEqual([1, 4, 6]);
  });
});
