// The same by require, by util.promisify and in a worker.
const { setTimeout: after } = require('timers');
const { promisify } = require('util');
const { Worker, isMainThread } = require('worker_threads');

if (isMainThread) {
  after(() => {}, 12);
  promisify(setTimeout)(13);
  new Worker(__filename);
} else {
  for (let n = 0; n < 4; n++) after(() => {}, 14);
}
