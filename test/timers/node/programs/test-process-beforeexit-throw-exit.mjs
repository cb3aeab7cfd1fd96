// Where a beforeExit handler throws, `exit` comes all the same, once; a timer that is set by then does not fire.
import assert from 'node:assert';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { mustCall, mustNotCall } from './must-call.mjs';

const CHILD = 'child';

function throwBeforeExit() {
  const onExit = mustCall(() => {
    process.exitCode = 0;
  });
  process.prependListener('exit', onExit);
  process.on(
    'beforeExit',
    mustCall(() => {
      setTimeout(mustNotCall(), 1);
      throw new Error('of a beforeExit handler');
    }),
  );
}

if (process.argv[2] === CHILD) throwBeforeExit();
else {
  const program = fileURLToPath(import.meta.url);
  execFile(
    process.execPath,
    [...process.execArgv, program, CHILD],
    mustCall((error, _output, errors) => {
      assert.strictEqual(error, null);
      assert.match(errors, /Error: of a beforeExit handler/);
      assert.doesNotMatch(errors, /called \d+ times/);
    }),
  );
}
