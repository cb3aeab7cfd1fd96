import { UsageError } from '../../bench/replay/command-line.ts';
import type { PlannedTimer } from './planned-load.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const longest = 24 * 3_600_000;

/** A time with its unit: `250ms`, `3s`, `15m`, `1h`; in ms. */
export function parseTime(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const time = Number(digits) * (units[unit] ?? Number.NaN);
  if (time >= 0 && time <= longest) return time;
  throw new UsageError(`a time must be a number with ms, s, m or h, from 0ms to 24h, got '${text}'`);
}

function parseCount(key: string, text: string, least: number, most: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most) return value;
  throw new UsageError(`${key} must be a number from ${least} to ${most}, got '${text}'`);
}

function parseShare(text: string): number {
  return parseCount('fires', text.replace(/%$/, ''), 0, 100) / 100;
}

/**
 * One kind of timer, as the command line has it: `name=delay`, then any of `held=time` (from start to cancellation),
 * `starts=n` (of them for each connection), `moves=n` (of each), `fires=percent`, with commas between. `lifetime`: how
 * long one is held where that is not said, in ms. Throws `UsageError`.
 */
export function parseTimer(text: string, lifetime: number): PlannedTimer {
  const [[name, delayText], ...fields] = text.split(',').map((part) => part.split('='));
  if (!name?.trim() || delayText === undefined) {
    throw new UsageError(`a timer is name=delay[,held=time][,starts=n][,moves=n][,fires=percent], got '${text}'`);
  }
  const delay = parseTime(delayText);
  let [starts, moves, fires] = [1, 0, 0];
  let held: number | undefined;
  for (const [key, value = ''] of fields) {
    if (key === 'held') held = parseTime(value);
    else if (key === 'starts') starts = parseCount(key, value, 0.001, 10_000);
    else if (key === 'moves') moves = parseCount(key, value, 0, 10_000);
    else if (key === 'fires') fires = parseShare(value);
    else throw new UsageError(`a timer has held, starts, moves and fires, got '${key}' in '${text}'`);
  }
  // Between two moves, or a start and the cancellation, there may be half as long again as on average.
  const most = (delay * (moves + 1)) / 1.5;
  if (held !== undefined && fires < 1 && held > most) {
    throw new UsageError(
      `${name} would fire before it is moved or cancelled: with a delay of ${delay} ms and ${moves} moves it can be held for ${Math.floor(most)} ms, got ${held}`,
    );
  }
  return { name, delay, starts, moves, held: Math.min(held ?? lifetime, most), fires };
}
