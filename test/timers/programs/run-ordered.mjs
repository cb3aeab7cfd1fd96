// Runs groups of random programs, given as JSON, on the face of an argument; prints what happened in each, as JSON.
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers';
import { faceOf } from './face-of.mjs';
import { OrderedProgram } from './ordered-program.mjs';

/** ms: a group takes a second at most. */
const PATIENCE = 10_000;
const POLL = 3;

process.on('uncaughtException', (error, origin) => {
  if (error.program === undefined) throw error;
  error.program.note(`${error.message}, ${origin}`);
});
process.on('unhandledRejection', (error) => {
  if (error.program === undefined) throw error;
  error.program.note(`${error.message}, and nobody hears it`);
});

/** All at once, so that they lie among each other's timers. */
function runGroup(drawn, timers) {
  const programs = drawn.map((program) => new OrderedProgram(program, timers));
  const end = performance.now() + PATIENCE;
  return new Promise((resolve) => {
    const poll = () => {
      const isOver = programs.every((program) => program.isOver);
      if (isOver || performance.now() > end) resolve(programs);
      else setTimeout(poll, POLL);
    };
    setTimeout(() => {
      for (const [index, program] of programs.entries()) program.begin(drawn[index].after);
      poll();
    }, POLL);
  });
}

const groups = JSON.parse(await text(process.stdin));
const timers = await faceOf(process.argv[2]);
const found = [];
for (const drawn of groups) {
  for (const program of await runGroup(drawn, timers)) {
    const { log, immediates, latest, isOver } = program;
    found.push({ log, immediates, latest, isOver, ending: program.ending() });
  }
}
process.stdout.write(JSON.stringify(found), () => process.exit());
