import { setTimeout as sleep } from 'node:timers/promises';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { xorshift } from '../../replay/xorshift.ts';
import { NODE } from '../rates/rate-subjects.ts';
import { start } from '../scheduler/subjects.ts';
import { createPictureTimers, pictureTimers } from './picture-subjects.ts';

/** Timers a second that come due. */
export const latenessRates = [1000, 20_000] as const;

/** Shares of the timers, in percent. */
export const shares = [
  ...[0, 0.1, 0.5, 1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 98],
  ...[99, 99.5, 99.9, 100],
] as const;

export const EARLY = 'early';

export const latenessFigure = (rate: number, share: number | typeof EARLY): string => `${rate}/s ${share}`;

/** ms: delays are uniform over these. */
const [LEAST, MOST] = [20, 1019];
const SECONDS = 5;
/** s at the beginning that are not counted: what is not compiled yet comes late. */
const BEFORE = 1;
const PATIENCE = 5000;

/** How late timers come, as a distribution. */
export const latenessShape: Suite = {
  name: 'pictures lateness',
  title: 'Pictures: how late timers come',
  codes: ['pictures'],
  about:
    `Timers with delays of ${LEAST} to ${MOST} ms, set in slices each millisecond; all of them come due. What a callback reads off the clock, less the ` +
    `reading when its timer was set and its delay. ${SECONDS - BEFORE} s are counted, after ${BEFORE} s of the same.`,
  base: NODE,
  subjects: pictureTimers,
  figures: latenessRates.flatMap((rate) => [
    ...shares.map((share) => ({
      key: latenessFigure(rate, share),
      title: `${rate.toLocaleString('en-US')} a second: ${share} % come within`,
      unit: 'ms',
    })),
    {
      key: latenessFigure(rate, EARLY),
      title: `${rate.toLocaleString('en-US')} a second: come early`,
      unit: '%',
    },
  ]),
  parts: latenessRates.map(String),
  run: measure,
};

async function measure(name: string, { quick }: Scale, part: string): Promise<Measurement> {
  const rate = Number(part);
  const seconds = quick ? 0.5 : SECONDS;
  const count = Math.round(rate * seconds);
  const uncounted = quick ? 0 : Math.round(rate * BEFORE);
  const due = new Float64Array(count);
  const late = new Float64Array(count).fill(Number.NaN);
  let fired = 0;
  const subject = await createPictureTimers(name, count, (timer) => {
    late[timer] = performance.now() - due[timer];
    fired += 1;
    subject.forget(timer);
  });
  await subject.ready;

  let random = SEED;
  const begun = performance.now();
  for (let set = 0; set < count; ) {
    const asked = Math.min(count, Math.floor(((performance.now() - begun) * rate) / 1000));
    subject.beginSlice();
    for (; set < asked; set++) {
      random = xorshift(random);
      const delay = LEAST + scaled(random, scaleFor(MOST - LEAST + 1));
      due[set] = performance.now() + delay;
      start(subject, set, delay);
    }
    await sleep(1);
  }
  for (const end = performance.now() + MOST + PATIENCE; fired < count && performance.now() < end; ) await sleep(20);
  await subject.close(
    () => undefined,
    () => undefined,
  );
  if (fired !== count) throw new Error(`of ${count} timers ${fired} have fired`);

  const counted = late.subarray(uncounted).sort();
  const at = (share: number) => counted[Math.min(counted.length - 1, Math.floor((counted.length * share) / 100))];
  const early = counted.findIndex((ms) => ms >= 0);
  return {
    figures: {
      ...Object.fromEntries(shares.map((share) => [latenessFigure(rate, share), at(share)])),
      [latenessFigure(rate, EARLY)]: ((early < 0 ? counted.length : early) * 100) / counted.length,
    },
    checksums: { [`fired ${rate}`]: fired },
  };
}
