// Entry of a process that measures one subject at one rate: `argv[2]` is a RateTask. Writes one JSON object of figures.
import { writeSync } from 'node:fs';
import { measureFires } from './fires-load.ts';
import { measurePairs } from './pairs-load.ts';
import type { RateLoad, RateTask } from './rate-task.ts';
import { measureReplay } from './replay-load.ts';

const loads: Readonly<Record<RateTask['load'], RateLoad>> = {
  fires: measureFires,
  pairs: measurePairs,
  replay: measureReplay,
};

const task: RateTask = JSON.parse(process.argv[2]);
writeSync(1, JSON.stringify(await loads[task.load](task)));
