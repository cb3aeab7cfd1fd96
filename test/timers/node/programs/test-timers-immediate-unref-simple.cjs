// An immediate without a ref does not run if nothing else keeps the process.
const { writeSync } = require('node:fs');

let hasRun = false;
setImmediate(() => {
  hasRun = true;
}).unref();
process.on('exit', () => {
  if (!hasRun) return;
  writeSync(2, 'the immediate has run\n');
  process.exitCode = 1;
});
