const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** 1,234,567 */
export const count = (value: number): string => whole.format(value);

/** Three digits that count. */
const short = (value: number): string => (value >= 99.95 ? whole.format(value) : `${Number(value.toPrecision(3))}`);

/** 1.23 M: for axes and scales. */
export function compact(value: number): string {
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const) {
    if (value >= size) return `${Number((value / size).toPrecision(3))} ${unit}`;
  }
  return `${Number(value.toPrecision(3))}`;
}

const times: readonly (readonly [unit: string, milliseconds: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
  ['µs', 0.001],
];

/** Milliseconds as number and unit. */
export function time(milliseconds: number): [value: string, unit: string] {
  if (milliseconds === 0) return ['0', 'ms'];
  // Seconds stay seconds up to two minutes.
  const [unit, size] = times.find(([unit, size]) => milliseconds >= (unit === 'min' ? 2 * size : size)) ?? [
    'µs',
    0.001,
  ];
  return [short(milliseconds / size), unit];
}

export const timeText = (milliseconds: number): string => time(milliseconds).join(' ');

/** Bytes as number and unit. */
export function size(bytes: number): [value: string, unit: string] {
  for (const [unit, least] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= least) return [short(bytes / least), unit];
  }
  return [whole.format(bytes), 'B'];
}

export const sizeText = (bytes: number): string => size(bytes).join(' ');

export const percent = (share: number): string => `${(share * 100).toFixed(share < 0.0995 ? 2 : 1)} %`;

/** The sum of a column. */
export const total = <K extends string>(rows: readonly Readonly<Record<K, number>>[], name: K): number =>
  rows.reduce((sum, row) => sum + row[name], 0);

/**
 * Characters that command a terminal, turn the direction of what follows, or show nothing. Joiners are none, as scripts
 * and emoji need them.
 */
export const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text of the program as one can read it, whatever its names hold. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (character) => `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`);

/** 14:03:07 */
export const clock = (at: number): string => new Date(at).toLocaleTimeString('en-GB');
