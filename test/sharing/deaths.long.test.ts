import { beforeAll, expect, test } from 'vitest';
import { Board, type Membership } from '../../src/sharing/board.ts';
import { type ClientCounts, COUNTED } from '../../src/sharing/entry.ts';
import type { PulseKeeper } from '../../src/sharing/pulse.ts';
import { tapAtomics, visiting } from '../shard/shared-access.ts';

/** A client's thread dies before each of its accesses to the board in turn. */
const DEATH = new Error('the thread dies here');
const MINUTE = 61_000;
const FIRST_ENTRY = 3 * 32;
const ENTRY = 2 * 32;

beforeAll(() => tapAtomics()); // what a hook returns is called in the end

/** A thread's waits end with it. */
function endWaits(words: Int32Array, holder: PulseKeeper | undefined): void {
  if (holder !== undefined) Reflect.set(holder, 'isHeld', false);
  Atomics.notify(words, 0);
}

const NO_COUNTS = Object.fromEntries(COUNTED.map((name) => [name, 0])) as ClientCounts;

/** Everything that a client does to the board; `member` is told as soon as there is one. */
function live(board: Board, joined: (member: Membership | undefined) => void): void {
  const member = board.join(2);
  joined(member);
  board.owner.wake();
  board.owner.isGone();
  board.want(0);
  board.serverOf(0);
  member?.entry.setCounts({ ...NO_COUNTS, size: 1, scheduled: 1, highWater: 1 });
  board.wakeClients();
  for (const { pulse } of board.clients()) pulse.isGone();
  member?.pulse.release();
  member?.entry.free();
}

/** Returns false once the client has fewer accesses than `stop`. */
function dieAt(stop: number): boolean {
  const board = new Board(Board.allocate(1), 1);
  const words = new Int32Array(board.memory);
  const owner = board.keepOwnersPulse();
  const other = board.join(1) as Membership;
  let dying: Membership | undefined;
  let access = 0;
  const end = () => {
    access += 1;
    if (access === stop) throw DEATH;
  };
  const joined = (member: Membership | undefined) => {
    dying = member;
  };
  let isDead = false;
  try {
    visiting(end, () => live(board, joined));
  } catch (error) {
    if (error !== DEATH) throw error;
    isDead = true;
  }
  // Its entry is the second, if it has come so far.
  const at = FIRST_ENTRY + ENTRY;
  endWaits(words.subarray(at + 32, at + 64), dying?.pulse);
  for (const first of [FIRST_ENTRY, at]) words[first + 32 + 3] -= MINUTE; // when its pulse was asked last
  words[32 + 3] -= MINUTE;
  if (words[at] < 0 && words[at + 1] !== 0) words[at + 1] -= MINUTE;

  expect(board.owner.isGone()).toBe(false);
  expect(other.entry.isJoined && !other.entry.pulse.isGone()).toBe(true);
  for (const entry of board.clients()) if (entry.pulse.isGone()) entry.free();
  expect(board.clients().map(({ serial }) => serial)).toEqual([1]);
  const next = board.join(3) as Membership;
  // A death between two stores, right after the entry was taken, keeps that one entry for good; it is not anybody's
  // then.
  const isKept = words[at] < 0;
  expect(next.entry.isJoined).toBe(true);
  expect(next.entry.counts().scheduled).toBe(0);
  expect(next.entry.pulse.isGone()).toBe(false);
  if (isKept) kept += 1;
  for (const { pulse } of [other, next]) pulse.release();
  owner.release();
  return isDead;
}

let kept = 0;

test('a client that dies before any of its accesses to the board harms nobody, and leaves its place to the next', () => {
  let deaths = 0;
  while (dieAt(deaths + 1)) deaths += 1;
  expect(deaths).toBeGreaterThan(50);
  expect(kept).toBeLessThanOrEqual(1);
});
