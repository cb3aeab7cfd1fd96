// Registered, taken back, registered again: whose timers each of the calls sets, and whether an agent has seen it.
import { createRequire } from 'node:module';
import { setTimeout as named } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { register, unregister } from 'shardwheel/register';
import { isFace } from './probe.mjs';

const { agent } = process.env.AGENT ? await import('./agent.mjs') : { agent: { calls: 0, stands: () => undefined } };

const require = createRequire(import.meta.url);
const handles = [];
const look = () => {
  const seen = agent.calls;
  const doors = [
    isFace(() => handles.push(setTimeout(() => undefined, 1e6))),
    isFace(() => handles.push(named(() => undefined, 1e6))),
    isFace(() => handles.push(require('timers').setTimeout(() => undefined, 1e6))),
    isFace(() => handles.push(setInterval(() => undefined, 1e6))),
    isFace(() => void sleep(1)),
  ];
  return { doors, isSeen: agent.calls - seen >= doors.length, stands: agent.stands() };
};
const stages = [look()];
unregister();
unregister();
stages.push(look());
register();
register();
stages.push(look());
unregister();
stages.push(look());
for (const handle of handles) clearTimeout(handle);
process.stdout.write(JSON.stringify(stages));
