import { describe, expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { Tally } from '../fixtures/tally.ts';

describe.each([0, 2])('guarantee 7, a throwing callback: shards %i', (shards) => {
  test("with an 'error' listener: it gets every error, and no other timer is lost", async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1024, maxBatch: 7 });
    const errors: unknown[] = [];
    scheduler.on('error', (error) => errors.push(error));
    const tally = new Tally(500);
    const callback = (index: number) => {
      tally.add(index);
      if (index % 5 === 0) throw index % 2 === 0 ? new Error(`timer ${index}`) : index;
    };
    for (let i = 0; i < 500; i++) scheduler.schedule(i, 10, callback, i);
    expect(await scheduler.advanceTo(10)).toBe(500);
    tally.expectEachOnce();
    expect(errors.length).toBe(100);
    const told = errors.map((error) => (error instanceof Error ? Number(error.message.slice(6)) : (error as number)));
    expect(told.sort((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, i) => 5 * i));
  });

  test("an error thrown by a 'fired' listener goes the same way", async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1024 });
    const errors: unknown[] = [];
    const log: string[] = [];
    scheduler.on('error', (error) => errors.push(error));
    scheduler.on('fired', () => {
      throw new RangeError('from a listener');
    });
    scheduler.schedule('a', 5);
    scheduler.schedule('a', 5, () => log.push('delivered'));
    scheduler.schedule('a', 5);
    expect(await scheduler.advanceTo(5)).toBe(3);
    expect(log).toEqual(['delivered']);
    expect(errors.map(String)).toEqual(['RangeError: from a listener', 'RangeError: from a listener']);
  });

  test.each([
    ['without a listener each error', '', ''],
    [
      "an error that an 'error' listener throws",
      "scheduler.on('error', (error) => { throw new Error('about ' + error.message); });",
      'about ',
    ],
  ])('%s is an uncaught exception, and the rest is delivered', async (_, listen, about) => {
    const { code, stdout, stderr } = await runModule(
      `const caught = [], delivered = [];
       process.on('uncaughtException', (error) => caught.push(error.message));
       process.on('exit', () => console.log(JSON.stringify({ caught: caught.sort(), delivered: delivered.length })));
       const scheduler = createScheduler({ shards });
       ${listen}
       for (let i = 0; i < 100; i++) {
         scheduler.scheduleAfter(i, 30, () => {
           delivered.push(i);
           if (i % 50 === 0) throw new Error('timer ' + i);
         });
       }`,
      shards,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ caught: [`${about}timer 0`, `${about}timer 50`], delivered: 100 });
  });

  test('without anybody who catches it the process ends with it, as with a timer of Node', async () => {
    const { code, stdout, stderr } = await runModule(
      `const scheduler = createScheduler({ shards, clock: 'manual' });
       await scheduler.ready;
       for (let i = 0; i < 5; i++) {
         scheduler.schedule('one shard', 10, () => {
           console.log(i);
           if (i === 1) throw new Error('nobody catches this');
         });
       }
       await scheduler.advanceTo(10);
       setTimeout(() => console.log('too far'), 1000);`,
      shards,
    );
    expect(code).toBe(1);
    expect(stdout.split('\n').filter(Boolean)).toEqual(['0', '1']);
    expect(stderr).toContain('Error: nobody catches this');
  });
});
