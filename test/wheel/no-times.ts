/** What is no time, though most of it compares with numbers as `time` does. */
export const noTimes = (time: number): unknown[] => [
  String(time),
  BigInt(Math.ceil(time)),
  new Date(Math.min(time, 8.64e15)),
  { valueOf: () => time },
  [time],
  null,
  true,
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];
