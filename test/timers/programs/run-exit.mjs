// Runs one random program, an argument in JSON, on the face of another, and lets it end as it does: see drawn-exit.ts.
import { faceOf } from './face-of.mjs';

/** ms. What is never due must not hold the process: the guard sees to it. */
const DELAYS = { short: 1, held: 400, never: 60_000 };
const GUARD = 40;

const program = JSON.parse(process.argv[3]);
const timers = await faceOf(process.argv[2]);
const note = (what) => process.stdout.write(`${what}\n`);
const made = [];
let { fuel, isHeld } = program;
let ends = 0;

/** Short timers that have been set are due when it returns: so it is defined in which turn they fire. */
function passTime() {
  for (const end = performance.now() + 3 * DELAYS.short; performance.now() < end; );
}

/** Ends the holding of the process by timers that are never due. Nobody notices where it has ended before. */
function guard() {
  const release = () => {
    for (const { plan, timeout } of made) if (plan.delay === 'never') timeout?.unref();
  };
  timers.setTimeout(release, GUARD).unref();
}

function set(plan, mayUnref) {
  const timer = { name: made.length, plan, calls: 0 };
  made.push(timer);
  const delay = DELAYS[plan.delay];
  const isDue = plan.delay === 'short' && (plan.kind === 'interval' ? isHeld : mayUnref); // in a turn that surely comes
  const isRef = plan.isRef || (!isDue && plan.delay === 'short');
  if (plan.kind === 'sleep') {
    const sleep = timers.promises.setTimeout(delay, timer.name, { ref: isRef && plan.delay !== 'never' });
    timer.isAsleep = delay === DELAYS.short;
    void sleep.then((name) => {
      timer.isAsleep = false;
      note(`${name} has slept`);
    });
    return;
  }
  const set = plan.kind === 'interval' ? timers.setInterval : timers.setTimeout;
  timer.timeout = set(() => fire(timer), delay);
  if (!isRef || plan.delay === 'never') timer.timeout.unref();
}

function fire(timer) {
  const { name, plan, timeout } = timer;
  timer.calls += 1;
  note(`${name} fires`);
  const isLast = program.firesOnce || timer.calls >= plan.calls || fuel <= 0;
  if (plan.kind === 'interval' && isLast) timers.clearInterval(timeout);
  runAll(plan.steps, plan.kind === 'interval' ? 'interval' : 'timeout');
}

/**
 * `place`: in the callback of a timeout or of an interval, or where a turn is to come: at the beginning, or in
 * `beforeExit`.
 */
function runAll(steps, place) {
  let changes = 0;
  try {
    for (const step of steps) {
      if (fuel <= 0) break;
      fuel -= 1;
      if (run(step, place)) changes += 1;
    }
  } finally {
    if (changes > 0) passTime();
  }
}

/** Returns whether a timer's time has begun. */
function run(step, place) {
  const mayUnref = isHeld || place === 'turn';
  switch (step.do) {
    case 'set':
      if (place === 'interval') return false; // as in ordered-program.mjs
      set(program.plans[step.plan], mayUnref);
      return true;
    case 'tick':
      process.nextTick(() => note('tick'));
      return false;
    case 'immediate':
      timers.setImmediate(() => note('immediate'));
      return false;
    case 'exit code':
      process.exitCode = step.code;
      return false;
    case 'exit':
      return process.exit(step.code);
    case 'throw':
      throw new Error('thrown');
    default:
      return change(step, made[step.timer % made.length], mayUnref, place);
  }
}

function change({ do: what }, timer, mayUnref, place) {
  const { plan, timeout } = timer;
  if (timeout === undefined) return false;
  const isNever = plan.delay === 'never';
  switch (what) {
    case 'clear':
      if (timeout._destroyed) timer.isOver = true;
      timers.clearTimeout(timeout);
      return false;
    case 'refresh':
      // In Node what had fired when it was cleared, and is refreshed, holds the process, and does nothing then.
      if (place === 'interval' || timer.isOver || (program.firesOnce && timer.calls > 0)) return false;
      if (!mayUnref && !isNever) timeout.ref();
      timeout.refresh();
      return true;
    case 'ref':
      if (isNever) guard();
      timeout.ref();
      return false;
    case 'unref':
      if (isNever || isHeld || (mayUnref && plan.kind === 'timeout')) timeout.unref();
      return false;
  }
}

process.on('beforeExit', (code) => {
  if (made.length === 0) return begin(); // nothing of loading it holds the process any more
  ends += 1;
  note(`beforeExit ${ends} ${code}`);
  const steps = program.beforeExit[ends - 1];
  if (steps !== undefined) runAll(steps, 'turn');
  if (ends > 100) process.exit(99);
});
process.on('exit', (code) => {
  note(`exit ${code}`);
  for (const step of program.exit) if (!['exit', 'throw'].includes(step.do)) run(step, 'timeout');
});
if (program.isCaught) process.on('uncaughtException', ({ message }) => note(`caught ${message}`));

/** On a busy machine what is short takes long: the end of what holds the process comes when all of that is over. */
function endHold() {
  const isShort = ({ plan, timeout, isAsleep }) =>
    isAsleep || (plan.delay === 'short' && timeout?._destroyed === false);
  if (made.some(isShort)) return void timers.setTimeout(endHold, DELAYS.held);
  isHeld = false;
  note('held');
  runAll(program.held, 'turn');
}

function begin() {
  if (isHeld) timers.setTimeout(endHold, DELAYS.held);
  for (const plan of program.plans) set(plan, true);
  runAll(program.after, 'turn');
  passTime();
}

if (program.isAwaited) await timers.promises.setTimeout(DELAYS.never, 0, { ref: false });
