import { expect, test, vi } from 'vitest';

test('what was refused is not asked for again at once, though time is faked when the package is loaded', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    vi.resetModules();
    const { grant } = await import('../../src/memory/grant.ts');
    let asked = 0;
    const ask = () => {
      asked += 1;
      for (const end = process.hrtime.bigint() + 20_000_000n; process.hrtime.bigint() < end; );
      throw new RangeError('Array buffer allocation failed');
    };
    for (let i = 0; i < 3; i++) expect(() => grant(2 ** 20, ask)).toThrow('Array buffer allocation failed');
    expect(asked).toBe(1);
    expect(grant(1, () => 'less')).toBe('less');
  } finally {
    vi.useRealTimers();
    vi.resetModules(); // whoever comes next in this process must not get the one that pauses
  }
});
