import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { NODE } from '../rates/rate-subjects.ts';
import { start } from '../scheduler/subjects.ts';
import { createPictureTimers, pictureTimers } from './picture-subjects.ts';
import { threadTime } from './thread-time.ts';

const SECONDS = 10;
/** s after which they all come due. */
export const DUE_AT = 3;
const TIMERS = 1_000_000;
/** ms of a slice of the trace. */
export const SLICE = 50;
export const slices: readonly number[] = Array.from({ length: (SECONDS * 1000) / SLICE }, (_, slice) => slice * SLICE);

export const LAST = 'last';
export const traceFigure = (at: number): string => `${at} ms`;

/** Timers set in a turn of the loop. */
const CHUNK = 5000;
/** ms for which all of them can be set, before the trace begins; in a quick run those of a chunk. */
const TO_SET_MS = 12_000;
const TO_SET_QUICK_MS = 3_000;

/** An event loop over ten seconds, in which a million timers come due at once. */
export const loopTrace: Suite = {
  name: 'pictures loop',
  title: 'Pictures: an event loop over ten seconds, in which a million timers come due',
  codes: ['pictures'],
  about:
    `A million timers, which all come due ${DUE_AT} s after the trace begins. The event loop turns without pause (setImmediate). Of each ` +
    `${SLICE} ms the longest turn that ran in it, by the CPU time of the thread: so long a socket with data waits where nothing else runs on the core.`,
  base: NODE,
  subjects: pictureTimers,
  figures: [
    ...slices.map((at) => ({ key: traceFigure(at), title: `from ${at} ms: longest turn`, unit: 'ms' })),
    { key: LAST, title: 'the last timer comes after', unit: 'ms' },
  ],
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const count = quick ? CHUNK : TIMERS;
  let fired = 0;
  let last = 0;
  const subject = await createPictureTimers(name, count, (timer) => {
    fired += 1;
    last = performance.now();
    subject.forget(timer);
  });
  await subject.ready;
  const toSet = quick ? TO_SET_QUICK_MS : TO_SET_MS;
  const due = performance.now() + toSet + DUE_AT * 1000;
  for (let timer = 0; timer < count; ) {
    subject.beginSlice();
    for (const end = Math.min(timer + CHUNK, count); timer < end; timer++) {
      start(subject, timer, Math.ceil(due - performance.now()));
    }
    await nextTurn();
  }
  const begin = due - DUE_AT * 1000;
  if (performance.now() > begin) throw new Error(`${count} timers were not set within ${toSet} ms`);
  globalThis.gc?.();

  const longest = new Float64Array(slices.length);
  let before = 0;
  let usedBefore = threadTime();
  for (let isOver = false; !isOver; ) {
    await nextTurn();
    const used = threadTime();
    const now = (performance.now() - begin) / SLICE;
    const took = used - usedBefore;
    for (let slice = Math.max(0, Math.floor(before)); slice <= now && slice < longest.length; slice++) {
      longest[slice] = Math.max(longest[slice], took);
    }
    isOver = now >= slices.length;
    [before, usedBefore] = [now, used];
  }
  await subject.close(
    () => undefined,
    () => undefined,
  );
  if (fired !== count) throw new Error(`of ${count} timers ${fired} have fired`);
  return {
    figures: {
      ...Object.fromEntries(slices.map((at, slice) => [traceFigure(at), longest[slice]])),
      [LAST]: last - due,
    },
    checksums: { fired },
  };
}
