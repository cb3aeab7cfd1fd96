import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { OutsideLedger } from './outside-ledger.ts';

const folder = temporaryFolder();

/** What is wrong with the notes of clients: a line a step, by commas. */
function wrongOf(...clients: string[]): string[] {
  const notes = mkdtempSync(join(folder, 'notes-'));
  for (const [i, steps] of clients.entries()) writeFileSync(join(notes, `${i}`), `${steps.split(', ').join('\n')}\n`);
  return new OutsideLedger(notes).wrong;
}

const start = (kind: string) => `S 0 ${kind} 10 100, s 0 77`;

test.each([
  ['delivered', `${start('callback')}, D 0 110, E`],
  ['a moved one', `${start('callback')}, M 0 50 105, m 0, D 0 155, E`],
  ['a move that came too late', `${start('callback')}, M 0 50 105, D 0 110, E`],
  ['cancelled and told so', `${start('sleep')}, C 0, H 0 ABORT_ERR 101, E`],
  ['calls of a repeating one', `${start('repeating')}, D 0 110, D 0 120, C 0, E`],
  ['a signal that was handed back', `${start('signal')}, U 0, E`],
  ['a thread that was ended', `${start('sleep')}`],
])('nothing is wrong: %s', (_, steps) => {
  expect(wrongOf(steps)).toEqual([]);
});

test.each([
  ['lost', `${start('callback')}, E`, 'is lost'],
  ['early', `${start('callback')}, D 0 109, E`, 'is early by 1 ms'],
  ['early after a move', `${start('callback')}, M 0 50 105, m 0, D 0 120, E`, 'is early by 35 ms'],
  ['a call too early', `${start('repeating')}, D 0 110, D 0 119, C 0, E`, 'is early by 1 ms'],
  ['twice', `${start('callback')}, D 0 110, D 0 111`, 'has ended 2 times'],
  ['cancelled and delivered', `${start('callback')}, C 0, D 0 111`, 'is delivered, though cancelled'],
  ['delivered and handed back', `${start('callback')}, D 0 111, U 0`, 'has ended 2 times'],
  ['a waiter that hears nothing', `${start('sleep')}, C 0, E`, 'was cancelled, and heard undefined'],
  [
    'a waiter that hears another thing',
    `${start('sleep')}, C 0, H 0 ERR_SCHEDULER_CLOSED 101, E`,
    'was cancelled, and heard',
  ],
  ['an answer', 'W cancel: true, E', 'cancel: true'],
])('it is seen: %s', (_, steps, what) => {
  expect(wrongOf(steps).join()).toContain(what);
});

test('what one client says of the timer of another counts', () => {
  const cancelled = `${start('callback')}, E`;
  expect(wrongOf(cancelled, 'a 77, A 77, E')).toEqual([]);
  expect(wrongOf(cancelled, 'a 77')).toEqual([]); // ended before the answer
  expect(wrongOf(`${start('callback')}, D 0 110, E`, 'a 77, A 77, E').join()).toContain('has ended 2 times');
  expect(wrongOf(cancelled, 'a 77, A 77, a 77, A 77, E').join()).toContain('was cancelled 2 times');
  expect(wrongOf(`${start('callback')}, D 0 110, E`, `${start('callback')}, D 0 110, E`).join()).toContain(
    'given twice',
  );
});
