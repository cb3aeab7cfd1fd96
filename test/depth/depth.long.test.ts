import { beforeAll, describe, expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';

/**
 * How many files and functions of the package run for one timer. It is what a timer costs where few fire, since most of
 * it runs in the interpreter then, and what a reader has to hold in the head. A change that adds a layer fails here.
 *
 * V8's precise coverage counts them, in a process of its own. A hundred other timers live beside the measured one, so
 * that it neither begins nor ends the hold on the process. What is measured has been done before. Counts are reset
 *
 *     for a call       directly before it, and read directly after it
 *     for a delivery   10 ms before the timer is due, and read 30 ms after its callback has run: so filing, firing,
 *                      delivery, and turns that it leaves to be taken are all counted, but not the call that has set it
 *     with a thread    the same, from 2 ms before: the client has published the command 4 ms before, which is a case of
 *                      its own
 *     in a thread      at the beginning of each wait on its bell; all turns begun within those ms count together
 *
 * Everything is done several times, and the shallowest figure that has come three times counts: in others the native
 * timer came a tick early, or a slot of a coarser wheel was due. The test's own functions lie outside of the measured
 * folder.
 *
 * The same figures, and what has run: `node test/depth/print-depth.mjs dist inline`.
 */
interface Called {
  /** In the built folder. */
  readonly file: string;
  readonly name: string;
  readonly calls: number;
}

/**
 * The figures reached on Node 24: files, as `dist` has one per module, and functions, which `lib` has as well. To be
 * lowered with them. What raises one is to be worth it at each rate, and its reason is told here.
 */
const LIMITS: Readonly<Record<string, readonly [files: number, functions: number]>> = {
  // `-idle`: in a client that waits for nothing; else after another call.
  'schedule-idle': [12, 20],
  schedule: [12, 20],
  'move-idle': [5, 11],
  move: [5, 11],
  'cancel-idle': [9, 15], // the first end since a turn asks for one within a second
  cancel: [5, 9],
  inline: [20, 64],
  repeating: [23, 84], // 77 if it is called within a tick of its deadline
  // a client's turn that publishes to a thread, some ms before the timer is due, and looks whether it was
  publication: [13, 43],
  client: [16, 48], // its turn, where the thread has fired the timer; 43 from Node 24 on, where no immediate is lost
  thread: [12, 60], // the turns of the thread that file it and fire it
  'drop-in-set': [13, 20],
  'drop-in': [21, 71],
};

/** What runs in addition where contexts are left: only before Node 24, and not counted. */
const BEFORE_NODE_24 = 'get isUsed';

const filesOf = (ran: readonly Called[]): string[] => [...new Set(ran.map(({ file }) => file))];

/** A line per file, with the functions in it and the number of their calls. */
function listOf(ran: readonly Called[]): string {
  const inFile = (path: string): string[] =>
    ran.filter(({ file }) => file === path).map(({ name, calls }) => (calls === 1 ? name : `${name} (${calls} times)`));
  return filesOf(ran)
    .map((path) => `  ${path}: ${inFile(path).join(', ')}`)
    .join('\n');
}

describe.each(['dist', 'lib'])('in %s', (build) => {
  let depth: Record<string, Called[]>;

  beforeAll(async () => {
    const { stdout, stderr } = await runNode(['test/depth/print-depth.mjs', build, 'json']);
    expect(stderr).toBe('');
    depth = JSON.parse(stdout);
  }, 120_000);

  test('every case has limits, and runs something', () => {
    expect(Object.keys(depth).sort()).toEqual(Object.keys(LIMITS).sort());
    expect(Object.keys(depth).filter((name) => depth[name].length < 5)).toEqual([]);
  });

  test.each(Object.entries(LIMITS))('%s', (name, [files, functions]) => {
    const ran = depth[name].filter(({ name }) => name !== BEFORE_NODE_24);
    const told = `${filesOf(ran).length} files and ${ran.length} functions have run:\n${listOf(ran)}\n`;
    expect(ran.length, told).toBeLessThanOrEqual(functions);
    if (build === 'dist') expect(filesOf(ran).length, told).toBeLessThanOrEqual(files);
  });
});
