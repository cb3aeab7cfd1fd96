// The load of a client whose timers end in every way. Each step is noted in a file of its own, so that somebody in
// another process can judge it, whenever this thread or its process is ended: see outside-ledger.ts.
//
//     S name kind ms at    is about to start        D name at     is delivered, or a repeating one called
//     s name id            has been started         C name        a call has cancelled it
//     M name ms at         is about to be moved     U name        close() has handed it back
//     m name               has been moved           H name code   whoever waits has heard this
//     a id                 asks for its cancelling  A id          somebody's has been cancelled so
//     O name how           is about to be ended by its signal, or disposed
//     W what               an answer was wrong      E             the end: all reactions have run
import { openSync, writeSync } from 'node:fs';
import { draws } from '../lane/threads/pause.mjs';

const MOST_LIVE = 200;
const STEPS = 12;
/** ms: the longest delay of what is left to come, and that of what others must end. */
const SOON = 60;
const NEVER = 3_600_000;
const GROUPS = 6;
/** ms */
const MIN = 1;
/** Calls of a repeating timer, at most, until it cancels itself. */
const CALLS = 5;
const KINDS = ['callback', 'batch', 'repeating', 'sleep', 'withTimeout', 'signal'];

const clock = () => Number(process.hrtime.bigint()) / 1e6;

/** ms before which it does not come: of a scaled timer only its minimum is sure. */
const leastOf = ({ isScaled }, delay) => (isScaled ? Math.min(MIN, delay) : delay);

export class NotedLoad {
  /** Timers that have not ended, as far as this thread has been told, by name. */
  live = new Map();
  isStopped = false;

  /** `offered`: ids that clients offer each other, in shared memory. */
  constructor(scheduler, file, seed, offered) {
    this.scheduler = scheduler;
    this.file = openSync(file, 'w');
    this.offered = offered;
    const draw = draws(seed | 1);
    this.below = (end) => Math.floor(draw() * 2 ** -32 * end);
    this.names = 0;
    this.byId = new Map();
    this.groups = Array.from({ length: GROUPS }, (_, i) => scheduler.group(i));
    this.label = scheduler.label('scaled', { min: MIN });
    scheduler.on('fired', ({ args, length }) => {
      for (const name of args.slice(0, length)) this.delivered(name);
    });
    scheduler.on('error', (error) => {
      if (!['ERR_SHARD_INLINE', 'ERR_SHARD_FAILED'].includes(error.code))
        this.note('W', `${error.code}:${error.message}`);
    });
  }

  note(...words) {
    writeSync(this.file, `${words.join(' ')}\n`);
  }

  /** Works until it is stopped. */
  run = () => {
    if (this.isStopped) return;
    for (let step = this.below(STEPS); step > 0; step--) this.step();
    if (this.below(2) === 0) setImmediate(this.run);
    else setTimeout(this.run, 1);
  };

  /** Ends as it was told to: by closing at once, or when all has come that will. */
  async end(isAtOnce) {
    this.isStopped = true;
    if (!isAtOnce) {
      for (const timer of [...this.live.values()])
        if (timer.delay === NEVER || timer.kind === 'repeating') this.cancel(timer);
      while (this.scheduler.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const { id } of await this.scheduler.close()) this.note('U', this.byId.get(id));
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.note('E');
  }

  step() {
    const { below } = this;
    const choice = below(20);
    const timer = this.pick();
    if (choice < 10) {
      if (this.live.size < MOST_LIVE) this.start(KINDS[below(KINDS.length)]);
    } else if (timer === undefined) return;
    else if (choice < 13) this.cancel(timer);
    else if (choice === 13) this.cancelMany([timer, this.pick(), this.pick()]);
    else if (choice === 14) this.cancelGroup(below(GROUPS));
    else if (choice < 17) this.move(timer);
    else if (choice === 17) this.endByItself(timer);
    else if (choice === 18) void this.cancelOthers(this.offered[below(this.offered.length)]);
    else if (below(20) === 0) this.label.setScale(below(5) / 4).catch(() => undefined);
    else this.offered[below(this.offered.length)] = timer.id;
    if (timer !== undefined && !this.scheduler.has(timer.id)) this.forget(timer);
  }

  pick() {
    const names = [...this.live.keys()];
    return this.live.get(names[this.below(names.length)]);
  }

  forget(timer) {
    this.live.delete(timer.name);
  }

  start(kind) {
    const { below, label, scheduler } = this;
    const name = this.names++;
    const group = below(3) === 0 ? below(GROUPS) : undefined;
    const delay = kind === 'repeating' ? 2 + below(20) : below(4) === 0 ? NEVER : below(SOON * 8) / 8;
    const isScaled = below(5) === 0 && kind !== 'repeating';
    const hint = group === undefined ? name : this.groups[group];
    const starts = isScaled ? label : scheduler;
    const outer = new AbortController();
    const options = { workerHint: hint, label: isScaled ? label : undefined, signal: outer.signal };
    const timer = { name, kind, delay, group, isScaled, outer, calls: 1 + below(CALLS) };
    const heard = (code) => {
      this.note('H', name, code, clock());
      this.forget(timer);
    };
    const follow = (promise) =>
      promise.then(
        (value) => heard(value ?? 'resolved'),
        (error) => heard(error.code),
      );
    this.note('S', name, kind, leastOf(timer, delay), clock());
    if (kind === 'callback') timer.id = starts.scheduleAfter(hint, delay, this.delivered, name);
    else if (kind === 'batch') timer.id = starts.scheduleAfter(hint, delay, undefined, name);
    else if (kind === 'repeating') timer.id = starts.scheduleEvery(hint, delay, this.delivered, name);
    else if (kind === 'sleep') follow(scheduler.sleep(delay, options));
    else if (kind === 'withTimeout') {
      const work = new Promise((resolve) => {
        timer.settle = () => resolve('settled');
      });
      follow(scheduler.withTimeout(below(2) === 0 ? work : () => work, delay, options));
    } else {
      timer.signal = scheduler.signalAfter(delay, options);
      timer.signal.addEventListener('abort', () => heard(timer.signal.reason.code));
    }
    // The ids of waits are told to nobody.
    if (timer.id === undefined) for (const { id } of scheduler.liveTimers()) if (!this.byId.has(id)) timer.id = id;
    this.byId.set(timer.id, name);
    this.live.set(name, timer);
    this.note('s', name, timer.id);
  }

  delivered = (name) => {
    this.note('D', name, clock());
    const timer = this.live.get(name);
    if (timer === undefined) return;
    if (timer.kind !== 'repeating') this.forget(timer);
    else if (--timer.calls === 0) this.cancel(timer);
    if (!this.isStopped && this.below(4) === 0) this.step();
  };

  cancel(timer) {
    const wasLive = this.scheduler.has(timer.id);
    const isCancelled = this.scheduler.cancel(timer.id);
    if (isCancelled) this.note('C', timer.name);
    if (isCancelled !== wasLive || this.scheduler.has(timer.id)) this.note('W', `cancel:${isCancelled}:${wasLive}`);
    this.forget(timer);
  }

  cancelMany(timers) {
    const live = [...new Set(timers)].filter(({ id }) => this.scheduler.has(id));
    const count = this.scheduler.cancelMany(timers.map(({ id }) => id));
    for (const timer of live) {
      this.note('C', timer.name);
      this.forget(timer);
    }
    if (count !== live.length) this.note('W', `cancelMany:${count}:${live.length}`);
  }

  cancelGroup(group) {
    const members = [...this.live.values()].filter((timer) => timer.group === group && this.scheduler.has(timer.id));
    const count = this.groups[group].cancelAll();
    for (const timer of members) {
      this.note('C', timer.name);
      this.forget(timer);
    }
    if (count !== members.length) this.note('W', `cancelAll:${count}:${members.length}`);
  }

  move(timer) {
    if (timer.kind === 'repeating') return;
    const delay = timer.delay === NEVER ? NEVER : this.below(SOON);
    this.note('M', timer.name, leastOf(timer, delay), clock());
    if (this.scheduler.rescheduleAfter(timer.id, delay)) this.note('m', timer.name);
  }

  endByItself(timer) {
    if (!this.scheduler.has(timer.id)) return;
    const end = timer.settle ?? (this.below(2) === 0 ? timer.signal?.[Symbol.dispose] : undefined);
    if (end === undefined && !['sleep', 'signal'].includes(timer.kind)) return;
    if (timer.settle === undefined) this.note('O', timer.name, end === undefined ? 'aborted' : 'disposed');
    if (end === undefined) timer.outer.abort({ code: 'outer' });
    else end(); // work ends its wait when reactions run, unless something else has ended it by then
  }

  async cancelOthers(id) {
    if (id === 0 || this.isStopped) return;
    this.note('a', id);
    try {
      if (await this.scheduler.cancelAnywhere(id)) this.note('A', id);
    } catch (error) {
      if (error.code !== 'ERR_SCHEDULER_CLOSED') throw error;
    }
  }
}
