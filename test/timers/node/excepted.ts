/** Tests of Node's that have no program here, and why. */
export const excepted: Readonly<Record<string, string>> = {
  'test-timers-linked-list':
    "tests Node's internal linked list, which no public name shows and which the face does not have",
  'test-timers-now': "tests that a number of the event loop's internal binding is small after the start of the process",
  ...Object.fromEntries(
    [
      'async-hooks/test-late-hook-enable',
      'async-hooks/test-timers.setInterval',
      'async-hooks/test-timers.setTimeout',
    ].map((name) => [
      name,
      'counts all that async hooks see: they see the timers and immediates of the scheduler itself as well',
    ]),
  ),
};
