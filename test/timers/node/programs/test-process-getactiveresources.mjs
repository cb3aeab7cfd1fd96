// A timeout is the one resource of a program that sets one.
import assert from 'node:assert';

const before = process.getActiveResourcesInfo(); // Node 20 lists what loading a module has left
setTimeout(() => undefined, 0);
assert.deepStrictEqual(process.getActiveResourcesInfo(), [...before, 'Timeout']);
