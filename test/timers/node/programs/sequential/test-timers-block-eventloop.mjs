// Intervals whose callbacks take longer than their period do not keep the event loop from polling.
import fs from 'node:fs';
import { busyWait } from '../busy-wait.mjs';
import { mustCall, mustNotCall } from '../must-call.mjs';

const intervals = [12, 15].map((duration) => setInterval(() => busyWait(duration), 10));
const blocked = setTimeout(mustNotCall(), 5_000);
setTimeout(
  mustCall(() => {
    fs.stat(
      'no such file',
      mustCall(() => {
        for (const interval of intervals) clearInterval(interval);
        clearTimeout(blocked);
      }),
    );
  }),
  50,
);
