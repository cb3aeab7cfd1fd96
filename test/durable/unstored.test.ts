import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Kept } from '../../src/extras/durable/kept.ts';
import type { Ending, StoredTimer } from '../../src/extras/durable/stored-timer.ts';
import {
  FOLLOWERS,
  type UnstoredKeeper,
  type UnstoredState,
  UnstoredTimer,
} from '../../src/extras/durable/unstored/unstored-timer.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { FAR, NAME, NEARER, PAST, settled, timerOf, UnstoredWorld } from './unstored-world.ts';

const states = Object.keys(FOLLOWERS) as UnstoredState[];
const mayFollow = (from: UnstoredState, to: UnstoredState): boolean =>
  (FOLLOWERS[from] as readonly UnstoredState[]).includes(to);

/** From 'young' to each state. */
const ways: Record<UnstoredState, readonly UnstoredState[]> = {
  young: [],
  due: ['due'],
  running: ['due', 'running'],
  storing: ['storing'],
  stored: ['storing', 'stored'],
  ended: ['ended'],
};
const KEYS = ['one', 'other'];

afterEach(() => vi.restoreAllMocks());

describe('the states of a timer that is not stored', () => {
  const holder = { alarms: undefined } as unknown as UnstoredKeeper;
  for (const from of states) {
    test.each(states)(`${from}, then %s`, (to) => {
      const timer = new UnstoredTimer(holder, timerOf('k', FAR, 0), 0);
      for (const state of ways[from]) timer.become(state);
      expect(timer.state).toBe(from);
      if (mayFollow(from, to)) timer.become(to);
      else expect(() => timer.become(to)).toThrow(`A timer that is ${from} cannot become ${to}`);
      expect(timer.state).toBe(mayFollow(from, to) ? to : from);
    });
  }
});

interface Scheduled {
  payload: number;
  deadline: number;
  attempts: number;
}

/**
 * What is to be: of a key one thing is scheduled, wherever it is kept, and one attempt runs, which counts or does not.
 */
class Model {
  scheduled: Scheduled | undefined;
  attempt: (Scheduled & { counts: boolean }) | undefined;
  deaths = 0;

  schedule(payload: number, deadline: number, kept: Kept): boolean {
    const there = this.scheduled?.deadline;
    if (there !== undefined && kept === 'first') return false;
    if (there !== undefined && kept === 'earlier' && there <= deadline) return false;
    if (there !== undefined && kept === 'later' && there >= deadline) return false;
    this.scheduled = { payload, deadline, attempts: 0 };
    if (this.attempt !== undefined) this.attempt.counts = false;
    return true;
  }

  move(deadline: number): boolean {
    if (this.scheduled !== undefined) this.scheduled = { ...this.scheduled, deadline, attempts: 0 };
    return this.scheduled !== undefined;
  }

  cancel(): boolean {
    const isThere = this.scheduled !== undefined || this.attempt?.counts === true;
    this.scheduled = undefined;
    if (this.attempt !== undefined) this.attempt.counts = false;
    return isThere;
  }

  begin(): Scheduled | undefined {
    const { scheduled } = this;
    if (scheduled !== undefined) this.attempt = { ...scheduled, attempts: scheduled.attempts + 1, counts: true };
    this.scheduled = undefined;
    return this.attempt;
  }

  end(how: Ending['kind']): boolean {
    const { counts, ...as } = this.attempt as Scheduled & { counts: boolean };
    this.attempt = undefined;
    if (counts && how === 'again') this.scheduled = as;
    if (counts && how === 'dead') this.deaths += 1;
    return counts;
  }
}

const shown = (timer: StoredTimer | undefined): Scheduled | undefined =>
  timer && {
    payload: (timer.payload?.[0] ?? 0) + 256 * (timer.payload?.[1] ?? 0),
    deadline: timer.deadline,
    attempts: timer.attempts,
  };

/** Makes `steps` random steps. What is called is awaited while other steps are made. */
async function runAtRandom(draws: Draws, steps: number): Promise<void> {
  const world = new UnstoredWorld();
  const { unstored } = world;
  const models = new Map(KEYS.map((key) => [key, new Model()]));
  let pending: Promise<void> | undefined;
  let made = 0;
  const call = async (): Promise<void> => {
    const key = draws.pick(KEYS);
    const model = models.get(key) as Model;
    const deadline = draws.pick([PAST, PAST, NEARER, FAR]);
    const kind = draws.below(8);
    if (kind > 5) expect(await expected(unstored.cancel(NAME, key), model.cancel())).toBe(true);
    else if (kind === 0) expect(await expected(unstored.move(NAME, key, deadline), model.move(deadline))).toBe(true);
    else if (kind === 1) await unstored.flush();
    else {
      made += 1;
      const kept = draws.pick([undefined, undefined, undefined, 'first', 'earlier', 'later'] as const);
      const isChanged = model.schedule(made, deadline, kept);
      const answer = unstored.schedule(timerOf(key, deadline, made), draws.pick([0, 1000, 1000]), kept);
      expect(await answer).toBe(isChanged);
    }
  };
  const begin = async (): Promise<void> => {
    const before = new Map(world.attempts);
    await world.begin();
    for (const [key, { claim }] of world.attempts) {
      if (before.has(key)) continue;
      expect(shown(claim.attempt)).toEqual(shownOf((models.get(key) as Model).begin()));
    }
  };
  const end = async (): Promise<void> => {
    const found = draws.pick([...world.attempts.values(), undefined]);
    if (found === undefined) return;
    const { timer, claim } = found;
    const { key } = timer;
    const model = models.get(key) as Model;
    const kind = draws.pick(['done', 'again', 'dead'] as const);
    if (pending === undefined) expect(claim.over() !== undefined).toBe(!model.attempt?.counts);
    const dead = { ...claim.attempt, diedAt: 0, reason: '' };
    const ending: Ending =
      kind === 'done' ? { kind } : kind === 'again' ? { kind, timer: claim.attempt } : { kind, timer: dead };
    const counts = model.end(kind);
    const settling = timer.writeEnding(claim.attempt, ending).then((answer) => {
      expect(answer).toBe(counts);
      world.attempts.delete(key);
    });
    while (world.attempts.has(key)) {
      await world.answer('done');
      await settled();
    }
    await settling;
  };
  /** What is stored is delivered from there. */
  const deliverStored = (): void => {
    for (const key of KEYS) {
      if (unstored.get(NAME, key) === undefined && world.stored.delete(key))
        (models.get(key) as Model).scheduled = undefined;
    }
  };
  const check = (): void => {
    let size = 0;
    for (const [key, { scheduled }] of models) {
      const here = unstored.get(NAME, key);
      if (here !== undefined) size += 1;
      expect(shown(here ?? world.stored.get(key))).toEqual(scheduled);
    }
    expect(unstored.size).toBe(size);
    expect(world.dead).toHaveLength([...models.values()].reduce((sum, { deaths }) => sum + deaths, 0));
  };

  for (let step = 0; step < steps; step++) {
    const kind = draws.below(13);
    if (kind === 12 && pending === undefined && !world.isAsked) deliverStored();
    else if (kind < 4 && pending === undefined) {
      pending = call().finally(() => {
        pending = undefined;
      });
    } else if (kind < 6) await begin();
    else if (kind < 7) await end();
    else if (kind < 9 && world.armed.size > 0) world.ring(draws.pick([...world.armed]));
    else if (kind < 10) world.hasRoom = draws.below(4) > 0;
    else await world.answer(pending !== undefined ? 'done' : draws.pick(['done', 'failed', 'done, and not said']));
    await settled();
    if (pending === undefined && !world.isAsked) check();
  }
  const drain = async (work: Promise<void> | undefined): Promise<void> => {
    let isOver = work === undefined;
    void work?.finally(() => {
      isOver = true;
    });
    while (!isOver || world.isAsked) {
      await world.answer('done');
      await settled();
    }
    await work;
  };
  await drain(pending);
  check();
  await drain(unstored.close());
  expect(unstored.size).toBe(0);
  for (const [key, { scheduled }] of models) expect(shown(world.stored.get(key))).toEqual(scheduled);
}

const expected = async (answer: Promise<boolean>, by: boolean): Promise<boolean> => (await answer) === by;
const shownOf = (model: Scheduled | undefined): Scheduled | undefined =>
  model && { payload: model.payload, deadline: model.deadline, attempts: model.attempts };

test(`random calls, alarms, attempts and answers of the store agree with a plain model, seed ${SEED}`, async () => {
  const reached = new Set<string>();
  const become = UnstoredTimer.prototype.become;
  vi.spyOn(UnstoredTimer.prototype, 'become').mockImplementation(function (this: UnstoredTimer, next) {
    const from = this.state;
    become.call(this, next);
    reached.add(`${from}, ${next}`);
  });
  const draws = new Draws(SEED);
  const allowed = states.flatMap((from) => FOLLOWERS[from].map((to) => `${from}, ${to}`));
  // Some are rare.
  for (let run = 0; run < 30 || (run < 600 && reached.size < allowed.length); run++) await runAtRandom(draws, 200);
  expect([...reached].sort()).toEqual(allowed.sort());
});
