import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Evaluates a CommonJS text in a process with the flags of this one. Rejects where that fails; what it wrote to stderr. */
export async function errorOutputOf(text) {
  const { stderr } = await run(process.execPath, [...process.execArgv, '--print', '--eval', text]);
  return stderr;
}
