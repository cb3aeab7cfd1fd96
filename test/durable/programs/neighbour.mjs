// Opens the store in the folder it is given, says so or why not, handles the name 'a', and does what the lines of its
// input say. A handler of 'hangs' never settles. Ends with its input.
//
//     in     schedule key in-ms      close
//     out    open pid      refused code message      scheduled key      runs key      error code
//            rejected call code      closed
import { createInterface } from 'node:readline';
import { lmdbStore, openDurableTimers } from '../../../lib/durable.js';

const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);
const input = createInterface({ input: process.stdin }).on('close', () => process.exit());
const lines = input[Symbol.asyncIterator](); // lines that come before it are lost
try {
  const timers = await openDurableTimers({ store: lmdbStore({ path: process.argv[2] }) });
  timers.on('error', ({ code }) => say('error', code));
  timers.handle('a', (_, { key }) => {
    say('runs', key);
    return key === 'hangs' ? new Promise(() => undefined) : undefined;
  });
  say('open', process.pid);
  for await (const line of lines) {
    const [call, key, ms] = line.split(' ');
    try {
      if (call === 'close') await timers.close().then(() => say('closed'));
      else await timers.schedule('a', key, Date.now() + Number(ms)).then(() => say('scheduled', key));
    } catch ({ code }) {
      say('rejected', call, code);
    }
  }
} catch ({ code, message }) {
  say('refused', code, message);
  process.exit();
}
