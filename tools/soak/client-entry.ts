// Entry of a thread that is one of a soak's event loops beside the owner's: started by `SoakClients`.
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler } from '../../src/entries/index.ts';
import { reportOf } from './client-report.ts';
import type { ClientAsks, ClientTask } from './soak-clients.ts';
import { SoakLoad } from './soak-load.ts';

const TELL_PERIOD = 1000;

const { handle, options, index } = workerData as ClientTask;
const port = parentPort!;
const scheduler = connectScheduler(handle);
const errors: string[] = [];
scheduler.on('error', (error) => errors.push(`client ${index}: ${error}`));

let nextTelling = TELL_PERIOD;
const load = new SoakLoad(options, index, scheduler, {
  extraConnections: () => 0,
  onTurn: (now) => {
    if (now < nextTelling) return;
    nextTelling = now + TELL_PERIOD;
    load.count();
    port.postMessage({ report: reportOf(load, errors) });
  },
});

port.on('message', ({ block }: ClientAsks) => {
  if (block === undefined) load.stop();
  else for (const end = performance.now() + block; performance.now() < end; ); // as a callback that computes
});

await load.run();
const { lost } = await load.judge(() => undefined);
port.postMessage({ report: reportOf(load, errors, lost), isLast: true });
port.unref();
