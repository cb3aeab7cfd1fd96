// Timers of the same time keep to the stores in which they were set; exit() leaves one of them, as long as it runs.
import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mustCall } from '../must-call.mjs';

const first = new AsyncLocalStorage();
const second = new AsyncLocalStorage();
const expectStores = (...stores) => assert.deepStrictEqual([first.getStore(), second.getStore()], stores);

const inBoth = mustCall(() => {
  expectStores('world', 'other');
  first.exit(() => expectStores(undefined, 'other'));
  expectStores('world', 'other');
});
setTimeout(() => first.run('world', () => second.run('other', () => setTimeout(inBoth, 20))), 10);

const inFirst = mustCall(() => expectStores('earth', undefined));
setTimeout(() => first.run('earth', () => setTimeout(inFirst, 10)), 10);
