import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test, vi } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';

/** Every way to close a scheduler; each resolves when it is closed. */
const ways: Record<string, (scheduler: Scheduler, abort: () => void) => Promise<unknown>> = {
  'close()': (scheduler) => scheduler.close(),
  'its signal': (scheduler, abort) => {
    abort();
    return scheduler.close();
  },
  'await using': (scheduler) => scheduler[Symbol.asyncDispose](),
};

function closable(shards: number): { scheduler: Scheduler; abort: () => void } {
  const controller = new AbortController();
  const scheduler = createScheduler({ shards, capacity: 1024, signal: controller.signal });
  return { scheduler, abort: () => controller.abort() };
}

describe.each([0, 1])("'close', shards %i", (shards) => {
  test.each(Object.keys(ways))('comes once by %s, after what waited has been settled', async (way) => {
    const { scheduler, abort } = closable(shards);
    const log: string[] = [];
    const held = scheduler.sleep(60_000).catch(({ code }) => log.push(code));
    await scheduler.ready;
    scheduler.on('close', () => log.push(`closed: ${scheduler.isClosed}, live: ${scheduler.size}`));
    scheduler.on('close', () => log.push('the second listener'));
    expect(scheduler.isClosed).toBe(false);
    const closing = ways[way](scheduler, abort);
    expect([scheduler.isClosed, log]).toEqual([true, []]);
    await Promise.all([closing, held]);
    await ways[way](scheduler, abort);
    expect(log.toSorted()).toEqual(['ERR_SCHEDULER_CLOSED', 'closed: true, live: 0', 'the second listener']);
    expect(log.indexOf('closed: true, live: 0')).toBeLessThan(log.indexOf('the second listener'));
  });

  test('comes before close() resolves, which answers a listener the same promise', async () => {
    const { scheduler } = closable(shards);
    await scheduler.ready;
    let inner: Promise<unknown> | undefined;
    let isResolved = false;
    scheduler.on('close', () => {
      inner = scheduler.close();
      expect(isResolved).toBe(false);
    });
    const closing = scheduler.close();
    void closing.then(() => {
      isResolved = true;
    });
    await closing;
    expect(inner).toBe(closing);
  });

  test('reaches listeners that are added after a scheduler was made with an aborted signal', async () => {
    const scheduler = createScheduler({ shards, signal: AbortSignal.abort() });
    const closed = vi.fn();
    scheduler.on('close', closed);
    expect(scheduler.isClosed).toBe(true);
    await scheduler.close();
    expect(closed).toHaveBeenCalledExactlyOnceWith();
  });

  test('a listener that throws is told to error listeners, and close() resolves nevertheless', async () => {
    const { scheduler } = closable(shards);
    const id = scheduler.scheduleAfter(1, 60_000);
    const errors: unknown[] = [];
    scheduler.on('error', (...error) => errors.push(error));
    scheduler.on('close', () => {
      throw new Error('thrown by a listener');
    });
    expect((await scheduler.close()).map((timer) => timer.id)).toEqual([id]);
    expect(errors).toEqual([[new Error('thrown by a listener')]]);
  });
});

test("'close' of a connected scheduler is its own: the owner's close is none of it", async () => {
  await using owner = createScheduler({ shards: 0, capacity: 1024 });
  await using client = ClientThread.connect(owner.share());
  await client.run(({ scheduler }) => {
    Object.assign(globalThis, { closes: 0 });
    scheduler.on('close', () => Reflect.set(globalThis, 'closes', Reflect.get(globalThis, 'closes') + 1));
  });
  await owner.close();
  const closes = () =>
    client.run(async ({ scheduler }) => {
      await scheduler.stats(); // the loop has turned
      return [scheduler.isClosed, Reflect.get(globalThis, 'closes')];
    });
  expect(await closes()).toEqual([false, 0]);
  expect(await client.run(({ scheduler }) => scheduler.scheduleAfter(1, 60_000) > 0)).toBe(true);
  await client.run(({ scheduler }) => scheduler.close().then(() => undefined));
  expect(await closes()).toEqual([true, 1]);
});
