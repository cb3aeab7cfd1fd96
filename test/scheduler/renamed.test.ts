import { connectScheduler, createScheduler, InvalidConfigError, RenamedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';

/** What a program of the names before 1.0 does, and the new name that its error tells. */
const calls: [name: string, now: string][] = [
  ['timeout', 'scheduler.withTimeout(work, delay, options)'],
  ['timers', 'scheduler.liveTimers()'],
  ['interval', 'scheduler.statsInterval()'],
  ['setScale', 'scheduler.label(name, { min }).setScale(factor)'],
  ['withSlack', 'scheduler.label(name, { slack })'],
  ['callSites', 'npx shardwheel profile'],
];

const options: [name: string, value: unknown, now: string][] = [
  ['execArgv', [], 'options.thread.execArgv'],
  ['env', {}, 'options.thread.env'],
  ['workerUrl', '/worker.js', 'options.thread.workerUrl'],
  ['resourceLimits', {}, 'options.thread.resourceLimits'],
  ['hangTimeout', 5000, 'options.thread.hangTimeout'],
  ['inlineAfter', { deaths: 5, within: 10_000 }, 'options.thread.inlineAfter'],
  ['totalCapacity', 5, 'options.capacity'],
  ['trace', { sample: 0.5 }, 'npx shardwheel profile'],
];

describe('a name of before is answered by an error that tells the new one', () => {
  test.each(calls)('scheduler.%s()', async (name, now) => {
    await using scheduler = createScheduler({ shards: 0, capacity: 16 });
    const call = () => (scheduler as unknown as Record<string, () => unknown>)[name]();
    expect(call).toThrow(RenamedError);
    expect(call).toThrow(`scheduler.${name}() is no more: use `);
    expect(call).toThrow(now);
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_RENAMED' }));
  });

  test('of a label', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 16 });
    const label = scheduler.label('idle') as unknown as { group(hint: number): unknown; label: string };
    expect(() => label.group(1)).toThrow(/label.group\(\) is no more: .* label.schedule\(scheduler.group\(hint\)/);
    expect(() => label.label).toThrow('label.label is no more: use label.name');
  });

  test.each(options)('options.%s', (name, value, now) => {
    const call = () => createScheduler({ shards: 0, [name]: value });
    expect(call).toThrow(InvalidConfigError);
    expect(call).toThrow(`options.${name} is no option any more: `);
    expect(call).toThrow(now);
  });

  test('options of waits and of connecting', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 16 });
    await expect(scheduler.withTimeout(Promise.resolve(), 5, { slack: 5 } as never)).rejects.toThrow(
      'use options.label',
    );
    expect(() => scheduler.signalAfter(5, { slack: 5 } as never)).toThrow(
      'options.slack is no option any more: use options.label',
    );
    expect(() => connectScheduler(scheduler.share(), { totalCapacity: 5 } as never)).toThrow('use options.capacity');
  });

  test('and is not seen by a program that looks at a scheduler', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 16 });
    for (const name in scheduler) expect(calls.map(([old]) => old)).not.toContain(name);
  });
});
