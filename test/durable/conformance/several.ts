import { expect, test } from 'vitest';
import { note, nothingMore, type Stores, soon } from './stores.ts';

/** Two that have the same store. */
export function testSeveral(stores: Stores): void {
  test('of two that handle a name one delivers, and the other when the first has closed', async () => {
    const [one, other] = [await stores.start(), await stores.start()];
    const seen = [note(one), note(other)];
    await Promise.all(
      Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? one : other).schedule('a', `${at}`, soon(at))),
    );
    await stores.until(() => seen[0].length + seen[1].length === 200);
    await nothingMore();
    const keys = seen.flat().map(({ key }) => key);
    expect(new Set(keys).size).toBe(200);
    expect(keys).toHaveLength(200);
    expect(seen.flat().some(({ early }) => early)).toBe(false);
    await one.schedule('a', 'after', soon(400));
    await one.close();
    await stores.until(() => seen.flat().some(({ key }) => key === 'after')); // by `one`, if it took so long to close
  });

  test('names without a handler here wait for another process', async () => {
    const [one, other] = [await stores.start(), await stores.start()];
    const seen = note(one);
    const others: string[] = [];
    other.handle('b', (_, { key }) => others.push(key));
    await one.schedule('b', 'k', soon(0));
    await other.schedule('a', 'k', soon(0));
    await stores.until(() => seen.length === 1 && others.length === 1);
  });
}
