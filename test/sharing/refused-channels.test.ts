import { BroadcastChannel } from 'node:worker_threads';
import { createScheduler } from 'shardwheel';
import { expect, onTestFinished, test, vi } from 'vitest';

/** Has the channel of that number refused, of those made from now on. Returns the number that is open. */
function refuseChannel(refused: number): () => number {
  const threads = process.getBuiltinModule('node:worker_threads');
  let made = 0;
  let open = 0;
  class Counted extends BroadcastChannel {
    constructor(name: string) {
      made += 1;
      if (made === refused) throw new Error('no memory for a channel');
      super(name);
      open += 1;
    }
    override close(): void {
      open -= 1;
      super.close();
    }
  }
  const replaced = vi.spyOn(threads, 'BroadcastChannel', 'get').mockReturnValue(Counted);
  onTestFinished(() => replaced.mockRestore());
  return () => open;
}

test.each([1, 2])(
  'share that is refused its channel %i leaves no other open, and can be called again',
  async (refused) => {
    await using scheduler = createScheduler({ shards: 0 });
    const open = refuseChannel(refused);
    expect(() => scheduler.share()).toThrow('no memory for a channel');
    expect(open()).toBe(0);
    const handle = scheduler.share();
    expect([open(), scheduler.share()]).toEqual([2, handle]);
  },
);
