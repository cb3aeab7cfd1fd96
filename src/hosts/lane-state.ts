import { NamedState } from './named-state.ts';

/**
 * Where a client's lanes to a shard are, and what may follow.
 *
 *            a thread is up         it has them all
 *     inline ────────────▶ offering ─────────────▶ attached ──▶ offering, for a new lane
 *       ▲                   ▲    │                    │
 *       │   from the tables │    │ no memory          │ no longer wanted, or a table has moved
 *       │                   │    ▼      a pause       ▼
 *       │                   │  refused ──────────▶ leaving
 *       │                   ╰─────────────────────────┤
 *       ╰─────────────────────────────────────────────╯ not wanted, or refused too often
 *
 *     from all four, once the thread is gone: ──▶ waiting ──▶ offering, to the next, from the tables
 *                  (dying until the board says so)      ╰───▶ alone, if there will be none
 *
 * In `attached` the thread has answered for all lanes; in the other states with it a question is under way, or is about
 * to be.
 */
const NEXT = {
  inline: ['offering', 'attached', 'alone', 'over'], // in this thread, which serves them
  // With the thread of `epoch`:
  offering: ['offering', 'attached', 'refused', 'leaving', 'dying', 'waiting', 'over'], // some are on their way to it
  attached: ['offering', 'leaving', 'waiting', 'over'], // it has them all
  refused: ['leaving', 'waiting', 'over'], // it has no memory for some: after a pause it is asked for all
  leaving: ['inline', 'offering', 'attached', 'refused', 'leaving', 'dying', 'waiting', 'over'], // it is asked for all
  dying: ['waiting', 'over'], // it no longer answers, or is being ended; the board is yet to say that it is gone
  // With nobody: the thread that had them is gone, and the next is not up.
  waiting: ['offering', 'attached', 'alone', 'over'],
  alone: ['over'], // in this thread, for good
  over: ['over'], // the client is closed
} as const;

export type LaneState = keyof typeof NEXT;

export const WITH_THREAD = ['offering', 'attached', 'refused', 'leaving', 'dying'] as const satisfies LaneState[];

export const newLaneState = (): NamedState<LaneState> => new NamedState<LaneState>('inline', NEXT);
