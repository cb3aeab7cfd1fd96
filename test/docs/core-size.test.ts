import { expect, test } from 'vitest';
import { sourcesIn } from '../fixtures/source-files.ts';
import { below, read } from './documents.ts';

/** What a timer of a scheduler passes through: neither drop-in timers nor the wing. */
const outside = /^src\/(extras|entries|timers|client\/home)\//;

const linesOfCode = (text: string): number =>
  text.split('\n').filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/\*|\*)/.test(line)).length;

/** Lines of code by room, the largest first; the files at the top as one. */
function sizes(): [room: string, lines: number][] {
  const byRoom = new Map<string, number>();
  for (const { path } of sourcesIn('src')) {
    if (outside.test(path)) continue;
    const [, room, file] = path.split('/');
    const name = file === undefined ? 'files at the top' : room;
    byRoom.set(name, (byRoom.get(name) ?? 0) + linesOfCode(read(path)));
  }
  return [...byRoom].sort(([, one], [, other]) => other - one);
}

/** A block for each 100 lines. */
function picture(rooms: readonly [string, number][]): string {
  const total = rooms.reduce((sum, [, lines]) => sum + lines, 0);
  const rows = rooms.map(([room, lines]) => {
    const hundreds = Math.round(lines / 100);
    return `${room.padEnd(18)}${String(hundreds * 100).padStart(6)}  ${'█'.repeat(hundreds)}`;
  });
  return [...rows, `${'in all'.padEnd(18)}${String(Math.round(total / 100) * 100).padStart(6)}`].join('\n');
}

test('the core has at most 15,000 lines of code, and docs/design.md shows where', () => {
  const rooms = sizes();
  const drawn = picture(rooms);
  const shown = below('## How large it is', read('docs/design.md')) ?? '';
  const told = new Map(
    [...shown.matchAll(/^([a-z][\w -]*?) +(\d+)(?: +█+)?$/gm)].map(([, room, lines]) => [room, +lines]),
  );
  const total = rooms.reduce((sum, [, lines]) => sum + lines, 0);
  expect(total).toBeLessThanOrEqual(15_000);
  expect([...told.keys()].sort(), drawn).toEqual([...rooms.map(([room]) => room), 'in all'].sort());
  const isOld = ([room, lines]: [string, number]) => Math.abs((told.get(room) as number) - lines) > 50 + lines / 10;
  expect([...rooms, ['in all', total] as [string, number]].filter(isOld), drawn).toEqual([]);
  if (process.env.REPORT !== undefined) process.stdout.write(`${drawn}\n`);
});
