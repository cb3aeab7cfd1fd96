// Entry of a process that is one of the whole programs: `argv[2]` names it, `argv[3]` is how many slices pass until all
// is compiled, `argv[4]` how many are measured then. Writes ns of CPU of all threads per operation.
import { writeSync } from 'node:fs';
import { wholePrograms } from './whole-programs.ts';

const name = process.argv[2];
const [warmUp, slices] = process.argv.slice(3).map(Number);
const program = await wholePrograms[name](1);
for (let slice = 0; slice < warmUp; slice++) await program.work();
const before = process.cpuUsage();
let operations = 0;
for (let slice = 0; slice < slices; slice++) operations += await program.work();
const { user, system } = process.cpuUsage(before);
writeSync(1, JSON.stringify({ [name]: ((user + system) * 1000) / operations }));
await program.stop();
