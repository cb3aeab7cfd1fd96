import process from 'node:process';
import { measuredRun } from './measured-run.ts';

// A process of its own for each run, so that none inherits another's heap. Its answer is a message.
const result = await measuredRun(JSON.parse(process.argv[2]));
process.send!(result, () => process.exit());
