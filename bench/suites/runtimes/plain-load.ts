// Run as it stands by Node, Bun and Deno: `plain-load.js <timers> <part>`, and answers with a line of JSON. It knows
// nothing of this project. <timers>: `globals`, or the module that has them; <part>: how much of the full work, 1 for
// all of it.
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

type Handle = { refresh?(): unknown };
interface Timers {
  setTimeout(callback: () => void, delay: number): Handle;
  clearTimeout(handle: Handle): void;
}

/** ms: live timers are due after 10 to 11 minutes, none while it is measured; those that fire, after 1 to 1.5 s. */
const [FAR, FAR_SPAN] = [600_000, 60_000];
const [NEAR, NEAR_SPAN] = [1001, 500];
const LIVE = 1_000_000;
const OPERATIONS = 500_000;
const FIRED = 200_000;
/** Operations in one turn of the event loop. */
const CHUNK = 1000;
/** ms that those which are due may take to fire; and at the least, however few. */
const [PATIENCE, LEAST_PATIENCE] = [30_000, 5000];

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(() => resolve()));

/** The draws of `bench/replay/xorshift`, written out, as this file is to run alone. */
let state = 42;
function draw(range: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return Math.floor((state >>> 0) * (range / 2 ** 32));
}

function collectGarbage(): void {
  const { Bun, gc } = globalThis as { Bun?: { gc(isNow: boolean): void }; gc?: () => void };
  for (let i = 0; i < 3; i++) {
    Bun?.gc(true);
    gc?.();
  }
}

class Load {
  readonly #timers: Timers;
  readonly #live: Handle[];
  readonly #part: number;
  #strays = 0;
  readonly #onStray = (): void => {
    this.#strays += 1;
  };

  constructor(timers: Timers, live: number, part: number) {
    this.#timers = timers;
    this.#live = new Array<Handle>(live).fill({});
    this.#part = part;
  }

  set = (at: number): void => {
    this.#live[at] = this.#timers.setTimeout(this.#onStray, FAR + draw(FAR_SPAN));
  };

  replace = (): void => {
    const at = draw(this.#live.length);
    this.#timers.clearTimeout(this.#live[at]);
    this.set(at);
  };

  refresh = (): void => {
    this.#live[draw(this.#live.length)].refresh?.();
  };

  clear = (at: number): void => this.#timers.clearTimeout(this.#live[at]);

  get canRefresh(): boolean {
    return typeof this.#live[0].refresh === 'function';
  }

  get operations(): number {
    return OPERATIONS * this.#part;
  }

  setAll = (): Promise<Record<string, number>> => measured('set', this.#live.length, this.set);
  clearAll = (): Promise<Record<string, number>> => measured('clear', this.#live.length, this.clear);

  /** Sets as many as a turn has operations, and clears them, the newest first. */
  newest(): Promise<Record<string, number>> {
    const newest: Handle[] = [];
    return measured('newest', this.operations, (at) => {
      newest.push(this.#timers.setTimeout(this.#onStray, FAR + draw(FAR_SPAN)));
      if (at % CHUNK !== CHUNK - 1) return;
      while (newest.length > 0) this.#timers.clearTimeout(newest.pop()!);
    });
  }

  /** Sets many that are due soon. What passes from the last that was set to the last that fires is theirs. */
  async fire(): Promise<Record<string, number>> {
    const count = FIRED * this.#part;
    const late = new Float64Array(count).fill(Number.NaN);
    let fired = 0;
    await measured('', count, (at) => {
      const delay = NEAR + draw(NEAR_SPAN);
      const due = performance.now() + delay;
      this.#timers.setTimeout(() => {
        if (!Number.isNaN(late[at])) throw new Error('a timer fired twice');
        late[at] = performance.now() - due;
        fired += 1;
      }, delay);
    });
    const before = process.cpuUsage();
    const end = performance.now() + Math.max(LEAST_PATIENCE, PATIENCE * this.#part);
    while (fired < count && performance.now() < end) await new Promise((resolve) => void setTimeout(resolve, 50));
    if (fired < count) throw new Error(`${count - fired} timers of ${count} have not fired`);
    const { user, system } = process.cpuUsage(before);
    late.sort();
    return {
      fire: ((user + system) * 1000) / count,
      p50: late[count >> 1],
      p99: late[Math.floor(count * 0.99)],
      early: late.filter((each) => each < 0).length,
    };
  }

  requireNoStrays(): void {
    if (this.#strays > 0) throw new Error(`${this.#strays} far timers fired, or were cleared and fired`);
  }
}

/** Runs it so many times, in turns; ns each by the clock, and of CPU of all threads. */
async function measured(name: string, count: number, each: (at: number) => void): Promise<Record<string, number>> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let done = 0; done < count; done += CHUNK) {
    for (let at = done; at < Math.min(count, done + CHUNK); at++) each(at);
    await nextTurn();
  }
  const took = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { [name]: (took * 1e6) / count, [`${name}, CPU`]: ((user + system) * 1000) / count };
}

async function timersOf(name: string): Promise<Timers> {
  if (name === 'globals') return globalThis as unknown as Timers;
  const found = await import(name);
  const module = found.default ?? found;
  return module.setFastTimeout === undefined
    ? module
    : { setTimeout: module.setFastTimeout, clearTimeout: module.clearFastTimeout };
}

async function run(timers: Timers, live: number, part: number, fires: boolean): Promise<Record<string, number>> {
  const load = new Load(timers, live, part);
  collectGarbage();
  const before = process.memoryUsage().rss;
  const set = await load.setAll();
  collectGarbage();
  const bytes = (process.memoryUsage().rss - before) / live;
  const random = await measured('random', load.operations, load.replace);
  const newest = await load.newest();
  const refresh = load.canRefresh ? await measured('refresh', load.operations, load.refresh) : {};
  const fire = fires ? await load.fire() : {};
  await load.clearAll();
  load.requireNoStrays();
  return { ...set, bytes, ...random, ...newest, ...refresh, ...fire };
}

const [, , name = 'globals', part = '1'] = process.argv;
const timers = await timersOf(name);
await run(timers, 20_000 * Number(part), Number(part) / 5, part === '1'); // until all code is compiled
state = 42;
const figures = await run(timers, LIVE * Number(part), Number(part), true);
console.log(JSON.stringify({ figures }));
process.exit(0);
