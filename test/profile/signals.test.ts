import { describe, expect, test } from 'vitest';
import { isToBePassed } from '../../tools/cli/profile/run-program.ts';

const terminal = { isTTY: true };
const pipe = {};

describe('a signal of the profiler is passed on to the program', () => {
  test.each([
    ['all streams', [terminal, terminal, terminal]],
    ['stdin', [terminal, pipe, pipe]],
    ['stdout', [pipe, terminal, pipe]],
    ['stderr', [pipe, pipe, terminal]],
  ])('but for SIGINT where a terminal has sent it to both: %s', (_, streams) => {
    expect(isToBePassed('SIGINT', streams)).toBe(false);
    expect(isToBePassed('SIGTERM', streams)).toBe(true);
    expect(isToBePassed('SIGHUP', streams)).toBe(true);
  });

  test('where no stream is a terminal', () => {
    const streams = [pipe, pipe, pipe];
    expect(isToBePassed('SIGINT', streams)).toBe(true);
    expect(isToBePassed('SIGTERM', streams)).toBe(true);
  });
});
