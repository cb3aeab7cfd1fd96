import type { Spread } from './statistics.ts';

/** Three significant digits, thousands separated, no exponent. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return value === 0 ? '0' : value.toFixed(size >= 0.01 ? 3 : 4);
}

/** Median, and least and most where there was more than one round. */
export function withSpread(spread: Spread): string {
  const { median, least, most } = spread;
  return least === most ? figure(median) : `${figure(median)} (${figure(least)}–${figure(most)})`;
}
