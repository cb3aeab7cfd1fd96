// A random program of timers, as it runs on a face: see drawn-program.ts, which says what steps there are.
import { AsyncLocalStorage } from 'node:async_hooks';
import { clearInterval as nodesClearInterval, clearTimeout as nodesClearTimeout } from 'node:timers';

const storage = new AsyncLocalStorage();

/** JSON has neither. */
const delayOf = (delay) => (delay === 'none' ? undefined : delay === 'NaN' ? Number.NaN : delay);
const millisecondsOf = ({ delay }) => Math.max(1, Math.trunc(delayOf(delay)) || 1);

export class OrderedProgram {
  /** Everything that has happened, in order. */
  log = [];
  /** What immediates have done: how many of them lie between two timers is not defined. */
  immediates = [];
  /** ms by which the latest timer was late. */
  latest = 0;
  #made = [];
  #pending = 0;
  #fuel;
  #plans;
  #timers;

  constructor({ plans, fuel }, timers) {
    this.#plans = plans;
    this.#fuel = fuel;
    this.#timers = timers;
  }

  begin(after) {
    for (const plan of this.#plans) this.#set(plan);
    this.#runAll(after, 'program', 'timeout');
  }

  get isOver() {
    return this.#pending === 0 && this.#made.every(({ timeout }) => timeout?._destroyed ?? true);
  }

  /** What is to be seen of the timers when all is over. */
  ending() {
    return this.#made.map(({ timeout }) => timeout && [timeout.hasRef(), timeout._repeat === null].join(' '));
  }

  note(what) {
    this.log.push(`${what} in ${storage.getStore()}`);
  }

  #set(plan) {
    const timer = { name: this.#made.length, plan, calls: 0, due: 0, isNumbered: false };
    this.#made.push(timer);
    const set = () => this.#setAs(timer);
    if (plan.store === undefined) set();
    else storage.run(plan.store, set);
  }

  #setAs(timer) {
    const { plan } = timer;
    const delay = delayOf(plan.delay);
    timer.due = performance.now() + millisecondsOf(plan);
    if (plan.kind === 'sleep') void this.#sleep(timer, delay);
    else if (plan.kind === 'async interval') void this.#iterate(timer, delay);
    else {
      const { setTimeout, setInterval } = this.#timers;
      const set = plan.kind === 'interval' ? setInterval : setTimeout;
      const program = this;
      timer.timeout = set(
        function (...given) {
          program.#fire(timer, this, given);
        },
        delay,
        ...plan.given,
      );
      if (plan.isNumbered) timer.number = +timer.timeout;
    }
  }

  #fire(timer, self, given) {
    const { name, plan, timeout } = timer;
    timer.calls += 1;
    timer.hasFired = true;
    this.#measure(timer);
    const place = timeout._repeat === null ? 'timeout' : 'interval';
    this.note(`${name} fires ${self === timeout} ${given}`);
    if (place === 'interval' && (timer.calls >= plan.calls || this.#fuel <= 0)) {
      this.note(`${name} ends`);
      this.#clear(timer, plan.ends);
    }
    this.#runAll(plan.steps, name, place);
  }

  async #sleep(timer, delay) {
    const { name, plan } = timer;
    if (plan.isSignalled) timer.controller = new AbortController();
    this.#pending += 1;
    try {
      const given = await this.#timers.promises.setTimeout(delay, name, { signal: timer.controller?.signal });
      this.#measure(timer);
      this.note(`${name} has slept ${given}`);
    } catch ({ name: error }) {
      this.note(`${name} was woken ${error}`);
    }
    this.#pending -= 1;
    this.#runAll(plan.steps, name, 'between');
  }

  async #iterate(timer, delay) {
    const { name, plan } = timer;
    if (plan.isSignalled) timer.controller = new AbortController();
    this.#pending += 1;
    try {
      for await (const given of this.#timers.promises.setInterval(delay, name, { signal: timer.controller?.signal })) {
        timer.calls += 1;
        this.#measure(timer);
        this.note(`${name} comes ${given}`);
        this.#runAll(plan.steps, name, 'between');
        if (timer.calls < plan.calls && this.#fuel > 0) continue;
        this.note(`${name} is left`);
        break;
      }
    } catch ({ name: error }) {
      this.note(`${name} was ended ${error}`);
    }
    this.#pending -= 1;
  }

  #measure(timer) {
    const now = performance.now();
    this.latest = Math.max(this.latest, now - timer.due);
    timer.due = now + millisecondsOf(timer.plan);
  }

  /** `place`: in the callback of a timeout or of an interval, or between callbacks, where ticks and microtasks run. */
  #runAll(steps, by, place) {
    for (const step of steps) if (this.#fuel > 0) this.#run(step, by, place);
  }

  #run(step, by, place) {
    this.#fuel -= 1;
    const later = (what) => () => {
      this.note(`${what} of ${by}`);
      this.#runAll(step.steps, by, 'between');
    };
    switch (step.do) {
      case 'set':
        // In Node the next call of an interval stands behind what its callback sets, though it is due before that.
        if (place === 'interval') return;
        return this.#set(this.#plans[step.plan]);
      case 'tick':
        return process.nextTick(later('tick'));
      case 'microtask':
        return queueMicrotask(later('microtask'));
      case 'immediate':
        return this.#timers.setImmediate(() => this.immediates.push(`immediate of ${by} in ${storage.getStore()}`));
      case 'throw':
        throw Object.assign(new Error(`thrown by ${by}`), { program: this });
      case 'tick that throws':
        return process.nextTick(() => this.#run({ do: 'throw' }, `tick of ${by}`));
      case 'reject':
        return void Promise.reject(Object.assign(new Error(`rejected by ${by}`), { program: this }));
      default:
        return this.#change(step, this.#made[step.timer % this.#made.length], by, place);
    }
  }

  #change(step, timer, by, place) {
    const { timeout } = timer;
    if (step.do === 'abort') return timer.controller?.abort();
    if (timeout === undefined) return;
    switch (step.do) {
      case 'clear':
        return this.#clear(timer, step.by);
      case 'refresh':
        // Node has the next timer in its hand by then, and calls it, though it is refreshed.
        if (place === 'between' && !timeout._destroyed) return;
        if (place === 'interval') return;
        timer.due = performance.now() + millisecondsOf(timer.plan);
        timer.isRefreshed ||= timer.hasFired;
        return timeout.refresh();
      case 'ref':
        return timeout.ref();
      case 'unref':
        return timeout.unref();
      case '_repeat':
        if (step.isSet && timer.name === by) return; // its callback may have set others before: see 'set'
        timeout._repeat = step.isSet ? millisecondsOf(timer.plan) : null;
        return;
      case '_idleTimeout':
        timeout._idleTimeout = step.isSet ? millisecondsOf(timer.plan) : -1;
        return;
      case '_onTimeout':
        if (timer.isCleared) return;
        timeout._onTimeout = (...given) => {
          this.note(`in place of ${timer.name} ${given}`);
          if (timeout._repeat !== null) this.#clear(timer, 'handle');
        };
    }
  }

  #clear(timer, by) {
    const { timeout } = timer;
    const { clearTimeout, clearInterval } = this.#timers;
    timer.isCleared = true;
    const number = timer.number ?? +timeout;
    const ways = {
      handle: () => clearTimeout(timeout),
      'as an interval': () => clearInterval(timeout),
      number: () => clearTimeout(number),
      string: () => clearInterval(`${number}`),
      'of Node': () => nodesClearTimeout(timeout),
      'number of Node': () => nodesClearInterval(number),
      close: () => timeout.close(),
      dispose: () => timeout[Symbol.dispose ?? 'close'](),
    };
    // Node forgets the number of what has fired and is refreshed; the face that of what has fired and is over.
    ways[timeout._destroyed || timer.isRefreshed ? 'handle' : by]();
  }
}
