import { writeSync } from 'node:fs';

/** Ends the process with a failure: for where a thrown error would be swallowed by a domain or an error handler. */
export function fail(message) {
  writeSync(2, `${message}\n`);
  process.exit(1);
}
