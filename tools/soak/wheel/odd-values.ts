/** What a timer may carry besides small integers: each must come back as it was. */
export const oddValues: readonly unknown[] = [
  0,
  -0,
  1,
  -1,
  2 ** 30 - 1,
  2 ** 30,
  -(2 ** 30),
  -(2 ** 30) - 1,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  -(2 ** 31) + 1,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53,
  0.5,
  -0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  'a string',
  '7',
  undefined,
  null,
  true,
  false,
  7n,
  Symbol('a symbol'),
  {},
  [],
  () => {},
];

/** What no wheel takes for a deadline, or for a time. */
export const noDeadlines: readonly unknown[] = [
  5n,
  Symbol('5'),
  Object.create(null),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  '5',
  null,
  undefined,
  true,
  [5],
  {},
  5n,
];

/** What is no id of any timer. A whole number above 0 may be one: some slot's hundredth or millionth generation. */
export const noIds: readonly unknown[] = [
  5n,
  Symbol('5'),
  Object.create(null),
  0,
  -0,
  -1,
  0.5,
  2 ** 31 + 0.5,
  2 ** 53,
  -(2 ** 40),
  Number.NaN,
  Infinity,
  '5',
  undefined,
  null,
];

/** What is no time, and compares with numbers as `time` does. */
export const likeTimes = (time: number): readonly unknown[] => [
  String(time),
  [time],
  { valueOf: () => time },
  BigInt(Math.ceil(time)),
  new Date(Math.min(time, 8.64e15)),
];
