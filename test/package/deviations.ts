/** What a runtime does not do as Node does: the tests that say so. docs/install.md tells users. */
export interface Deviation {
  /** What their names contain. */
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
  ...['importing timers', 'importing register', 'a program that registers and sets no timer'].map(
    (title): Deviation => ({ title, runtimes: ['bun'], reason: 'the drop-in timers are refused there' }),
  ),
  {
    title: 'guarantee 15, presence is free',
    runtimes: ['deno'],
    reason: 'the drop-in timers are refused there, and it has no way to run a text that awaits as Node does',
  },
  ...['guarantee 16, I/O before late timers', 'guarantee 16, the lateness from which I/O comes first'].map(
    (title): Deviation => ({
      title,
      runtimes: ['bun', 'deno'],
      reason: 'immediates may come before a poll, native timers after one; the drop-in timers are refused there',
    }),
  ),
  ...['guarantee 16, timers that wait for I/O', 'what came in while the main script ran'].map(
    (title): Deviation => ({ title, runtimes: ['deno'], reason: 'immediates may come before a poll' }),
  ),
  {
    title: 'timers that end before they are due do not wake the loop',
    runtimes: ['bun', 'deno'],
    reason: 'the iterations of the loop are counted nowhere',
  },
  {
    title: 'what ended timers carried is collected in an idle loop',
    runtimes: ['deno'],
    reason: 'no flag of its own gives a program the collector',
  },
  ...[
    'exactly once, when threads die',
    'what is due when a thread dies is delivered by the same advanceTo',
    'timers of the past are found by a successor',
    'when the shards have fired already and the batch is on its way',
    'order by due tick across a restart',
    'natural exit, though a thread dies',
    'where the owner gives threads up, each client goes on inline, in its own thread',
  ].map((title): Deviation => ({ title, runtimes: ['deno'], reason: 'shards are inline there' })),
];
