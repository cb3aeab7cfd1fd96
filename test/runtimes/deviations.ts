/** What a runtime does not do as Node does: the tests that say so, by their titles. docs/runtimes.md tells users. */
export interface Deviation {
  readonly title: string;
  readonly runtimes: readonly ('bun' | 'deno')[];
  readonly reason: string;
}

export const deviations: readonly Deviation[] = [
  {
    title: 'without anybody who catches it the process ends with it, as with a timer of Node',
    runtimes: ['bun', 'deno'],
    reason: 'there is no way to run ticks between two callbacks of a turn: the process ends after the turn',
  },
  {
    title: 'one that is terminated in a loop without end loses its own timers and nothing of anybody else',
    runtimes: ['deno'],
    reason: 'a thread that is terminated in a synchronous loop goes on, and so it does not count as gone',
  },
  {
    title: 'a client that is blocked is waited for, one that is gone is not',
    runtimes: ['deno'],
    reason: 'the same, for a thread that is blocked',
  },
  {
    title: 'against a concurrent delivery: each timer is cancelled or delivered, and never both',
    runtimes: ['deno'],
    reason: 'of thousands of questions to another thread one may get no answer, and `cancelAnywhere` waits for it',
  },
];
