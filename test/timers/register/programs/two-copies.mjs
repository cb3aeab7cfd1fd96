// Two copies of the package in one thread: on whose scheduler the globals, and the second copy's own functions, set
// timers.

import { unregister } from 'shardwheel/register';
import { native } from '../../../../lib/chunks/base.js';
import { scheduled } from './probe.mjs';

const copy = (module) => import(new URL(module, process.env.COPY));
const other = await copy('register.js');
const { defaultClients } = await copy('chunks/default-timers.js');
const othersScheduled = () => defaultClients().reduce((sum, { scheduled }) => sum + scheduled, 0);
const { native: othersNative } = await copy('chunks/base.js');
const face = await copy('timers.js');

/** How many timers a call sets on the first copy's scheduler, and on the second's. */
const counts = (set) => {
  const before = [scheduled(), othersScheduled()];
  clearTimeout(set(() => undefined, 1e6));
  return [scheduled() - before[0], othersScheduled() - before[1]];
};
const globals = (callback, delay) => setTimeout(callback, delay);

const found = { registered: counts(globals), ofTheCopy: counts(face.setTimeout) };
found.natives = othersNative === native;
other.unregister();
found.takenBackByTheCopy = counts(globals);
other.register();
found.registeredByTheCopy = counts(globals);
unregister();
found.takenBack = counts(globals);
process.stdout.write(JSON.stringify(found));
