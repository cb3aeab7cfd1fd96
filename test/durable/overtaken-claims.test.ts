import { describe, expect, onTestFinished, test } from 'vitest';
import { Attempts } from '../../src/extras/durable/attempts/attempts.ts';
import { DurableCore } from '../../src/extras/durable/attempts/durable-core.ts';
import { resolveDurableOptions } from '../../src/extras/durable/durable-options.ts';
import { memoryStore } from '../../src/extras/durable/memory-store.ts';
import type { DueTimer, Ending, Overtaken } from '../../src/extras/durable/stored-timer.ts';

/** Has a timer delivered whose claim is over in this way by the time that it is made. */
async function deliver(how: Overtaken | undefined): Promise<{ calls: number; endings: string[] }> {
  const core = new DurableCore(resolveDurableOptions({ store: memoryStore() }), {
    emit: () => true,
    listenerCount: () => 1,
  } as never);
  onTestFinished(() => core.alarms.close());
  let calls = 0;
  const handler = (): void => {
    calls += 1;
  };
  core.handlers.set('a', { handler, concurrency: undefined, timeout: undefined } as never);
  const attempts = new Attempts(core);
  const endings: string[] = [];
  await new Promise<void>((released) => {
    const timer: DueTimer = {
      name: 'a',
      key: 'k',
      claim: async () => ({
        attempt: { name: 'a', key: 'k', deadline: 1, due: 1, attempts: 1, payload: undefined },
        over: () => how,
      }),
      writeEnding: async (_, ending: Ending) => {
        endings.push(ending.kind === 'again' ? `again, after ${ending.timer.attempts} attempts` : ending.kind);
        return true;
      },
      released,
    };
    attempts.push(timer);
  });
  return { calls, endings };
}

describe('an attempt that is overtaken before it begins', () => {
  test.each<[Overtaken | undefined, number, string]>([
    [undefined, 1, 'done'],
    ['cancelled', 0, 'done'],
    ['superseded', 0, 'done'],
    // It may be this process's all the same: what is done is gone.
    ['lost', 0, 'again, after 0 attempts'],
  ])('%s: it is called %i times, and its ending is: %s', async (how, calls, ending) => {
    expect(await deliver(how)).toEqual({ calls, endings: [ending] });
  });
});
