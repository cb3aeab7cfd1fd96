import type { Measurement, Scale, Suite } from '../suite.ts';

export const BARE = 'bare loops';
export const INLINE = 'inline';
export const THREAD = 'one thread';

/** Whole powers of two, 2^18 to 2^23. */
const SIZES = ['262,144', '2,097,152', '8,388,608'];
/** Of a quick run: one of so many timers. */
const QUICK = 256;
/** Timers of the run before the first that counts, and in all of those that count. */
const WARM_UP = 2 ** 18;
const MEASURED = 2 ** 20;

/** ns of CPU for each of `count` timers, by operation. */
type Operations = (subject: string, count: number) => Promise<Record<string, number>>;

export interface LinearSuiteOptions {
  readonly name: string;
  readonly title: string;
  readonly codes: readonly string[];
  readonly about: string;
  /** What is measured, the first above all. */
  readonly operations: readonly string[];
  /** Who takes part; all are held against the bare loops. */
  readonly subjects: readonly string[];
  readonly measure: Operations;
  /** Figures that are no cost, by size: title and unit. */
  readonly others?: Readonly<Record<string, string>>;
}

const notes: Record<string, string> = {
  [BARE]: 'the same memory, touched in the same order by dependent loads; a growth of less than 1 counts as 1',
  [INLINE]: 'shards: 0',
  [THREAD]: 'shards: 1, its thread up but for the burst',
};

/** The figure of an operation at a size, and of how its cost grows from the first size to the last. */
const figureOf = (operations: readonly string[], operation: string, size: string): string =>
  operation === operations[0] ? size : `${operation} ${size}`;
export const growthOf = (operation: string): string => `${operation} growth`;

/** What operations cost by the number of timers: whole-process CPU for each, and the last size's by the first's. */
export function linearSuite(options: LinearSuiteOptions): Suite {
  const { about, codes, measure, name, operations, others = {}, subjects, title } = options;
  const last = SIZES[SIZES.length - 1];
  return {
    name,
    title,
    codes,
    about: `CPU of the whole process for each timer; the growth is that at ${last} by that at ${SIZES[0]}. ${about}`,
    base: subjects.includes(BARE) ? BARE : '',
    subjects: subjects.map((subject) => ({ name: subject, note: notes[subject] })),
    figures: [
      ...operations.flatMap((operation) => [
        ...SIZES.map((size) => ({
          key: figureOf(operations, operation, size),
          title: `${operation} ${size}`,
          unit: 'ns',
        })),
        { key: growthOf(operation), title: `${operation} growth`, unit: '×' },
      ]),
      ...Object.entries(others).flatMap(([key, unit]) =>
        SIZES.map((size) => ({ key: `${key} ${size}`, title: `${key} ${size}`, unit })),
      ),
    ],
    parts: SIZES,
    derive: (figures, subject) =>
      Object.fromEntries(
        operations.map((operation) => {
          const growth =
            figures[figureOf(operations, operation, last)] / figures[figureOf(operations, operation, SIZES[0])];
          // A control that got cheaper makes no operation dearer.
          return [growthOf(operation), subject === BARE ? Math.max(1, growth) : growth];
        }),
      ),
    run: (subject, scale, part) => run(measure, operations, subject, scale, part),
  };
}

/** Small sizes are measured several times: what a process does once, compiling above all, must not weigh on them. */
async function run(
  measure: Operations,
  operations: readonly string[],
  subject: string,
  { quick }: Scale,
  size: string,
): Promise<Measurement> {
  const count = Number(size.replaceAll(',', '')) / (quick ? QUICK : 1);
  if (!quick) await measure(subject, WARM_UP);
  const times = quick ? 1 : Math.max(1, MEASURED / count);
  const sums: Record<string, number> = {};
  for (let time = 0; time < times; time++) {
    for (const [key, value] of Object.entries(await measure(subject, count))) sums[key] = (sums[key] ?? 0) + value;
  }
  const figures = Object.entries(sums).map(([key, sum]) => [figureOf(operations, key, size), sum / times]);
  return { figures: Object.fromEntries(figures), checksums: {} };
}
