import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause } from './conformance/stores.ts';

const program = fileURLToPath(new URL('./programs/loaded.mjs', import.meta.url));

/** An attempt, as its handler has noted it. Times in ms of a clock that nobody sets. */
interface Attempt {
  readonly at: number;
  readonly isEarly: boolean;
  readonly deadline: number;
  readonly process: Loaded;
  /** When it came to its end, if it did. */
  endedAt: number | undefined;
  hasResolved: boolean;
}

/** What a store says when a process has given no sign of life for long enough to count as dead. */
const LOCK_LOST = /Missing (key|lock)|Lock mismatch|is not in the active state|has taken the timer/;

/** ms by which a handler may begin after it was claimed: its process may stand still in between. */
const CLAIMED = 500;
/** ms within which a timer is stored that is to be. */
const STORED = 1500;

/** What has been said of one key. */
interface KeyLog {
  /** The process that scheduled it: all calls for a key are one's. One that delivered it may be read before. */
  by: Loaded;
  /** Of the last call of `schedule` or `reschedule` that was confirmed, when; 0 if none was. */
  confirmedAt: number;
  /** The deadline of that; undefined if a later call was not confirmed. */
  deadline: number | undefined;
  called: number;
  isCancelCalled: boolean;
  /** When cancel was true; 0 if it was not. */
  cancelledAt: number;
  readonly attempts: Attempt[];
}

/** A process that runs programs/loaded.mjs. */
class Loaded {
  /**
   * ms of a clock that nobody sets: when it was about to be ended, and to be killed. It may have ended long before a
   * busy machine says so. `killedAt` is undefined while it lives, or was closed.
   */
  toldAt = 0;
  killedAt: number | undefined;
  isClosed = false;
  /** It stood still for so long that its store may have given its timers to others. */
  hasLapsed = false;
  private readonly child: ChildProcess;
  private readonly file: string;
  private readonly ended: Promise<unknown>;
  /** On the channel of errors. */
  said = '';

  constructor(store: readonly string[], name: string, folder: string, mode: 'load' | 'drain', persistAfter: number) {
    this.file = join(folder, name);
    const args = [program, ...store, name, this.file, mode, `${persistAfter}`, `${process.pid}`];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] });
    this.child.stderr?.on('data', (text) => {
      this.said += text;
    });
    this.ended = once(this.child, 'exit');
  }

  /** What it has noted so far, in whole lines. */
  lines(): string[] {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Resolves when it has noted a line of this kind. */
  async noted(kind: 'ready' | 'B'): Promise<void> {
    for (let left = 30_000; left > 0 && this.lives; left -= 5) {
      if (this.lines().some((line) => line.split(' ')[0] === kind)) return;
      await pause(5);
    }
    throw new Error(
      `A process that ${this.lives ? 'lives' : 'has ended'} has noted no line of '${kind}'. ${this.said}`,
    );
  }

  private get lives(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends it, or lets it close its timers, for some seconds at most. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (!this.lives) return;
    this.toldAt = now();
    this.child.kill(signal);
    if (signal === 'SIGTERM') await Promise.race([this.ended, pause(20_000)]);
    const killedAt = now();
    this.child.kill('SIGKILL');
    await this.ended;
    this.isClosed = this.lines().some((line) => line.startsWith('closed'));
    if (!this.isClosed) this.killedAt = killedAt;
  }

  /** It stands still for so long. */
  async stop(ms: number): Promise<void> {
    this.child.kill('SIGSTOP');
    await pause(ms);
    this.child.kill('SIGCONT');
  }
}

type Store = readonly [kind: string, where: string];

interface KillPlan {
  /** Whether this was enough, after so many processes have ended. */
  readonly until: (ends: number) => boolean;
  readonly processes: number;
  readonly pauses: number;
  readonly persistAfter: number;
  readonly random: () => number;
}

/**
 * Keeps `processes` under load on one store, kills one after another, or closes it, or lets it stand still; and then
 * lets the last ones deliver what is left. Pauses of up to `pauses` ms follow the start of a process, or when it is
 * ready; or, if it is alone, its first delivery, so some die while they deliver, however slow the machine. Returns what
 * happened, by what the processes have said.
 */
export async function killAtRandom(store: Store, { until, processes, pauses, persistAfter, random }: KillPlan) {
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-kill-run-'));
  const all: Loaded[] = [];
  const start = (mode: 'load' | 'drain'): Loaded => {
    const process = new Loaded(store, `p${all.length}`, folder, mode, persistAfter);
    all.push(process);
    return process;
  };
  let log = new Map<string, KeyLog>();
  const faults: string[] = [];
  let [kills, closes, stops] = [0, 0, 0];
  try {
    const running = Array.from({ length: processes }, () => start('load'));
    for (let ends = 0; !until(ends); ends++) {
      const victim = running[ends % processes];
      if (random() < 0.8) await victim.noted(processes === 1 ? 'B' : 'ready'); // else while it starts
      await pause(random() * pauses);
      if (random() < 0.2) {
        stops += 1;
        await victim.stop(random() * 300);
        await pause(random() * pauses);
      }
      const isClosed = random() < 0.25;
      if (isClosed) closes += 1;
      else kills += 1;
      await victim.end(isClosed ? 'SIGTERM' : 'SIGKILL');
      running[ends % processes] = start('load');
    }
    await Promise.all(running.map((process) => process.end('SIGKILL')));
    kills += processes;

    const last = Array.from({ length: processes }, () => start('drain'));
    const isDone = (): boolean => {
      log = logOf(all, store, []);
      return [...log.values()].every((key) => !mustBeDelivered(key, persistAfter) || isDelivered(key));
    };
    for (let left = 300; left > 0 && !isDone(); left--) await pause(100);
    await pause(1500); // for deliveries that must not come
    await Promise.all(last.map((process) => process.end('SIGTERM')));
    log = logOf(all, store, faults);
  } finally {
    await Promise.all(all.map((process) => process.end('SIGKILL')));
    if (process.env.KEEP_LEDGER === undefined) rmSync(folder, { recursive: true, force: true });
    else process.stdout.write(`${folder}\n`);
  }
  for (const [key, of] of log) faults.push(...faultsOf(of, persistAfter).map((fault) => `${key}: ${fault}`));
  const logs = [...log.values()];
  const attempts = logs.flatMap((of) => of.attempts);
  return {
    kills,
    closes,
    stops,
    confirmed: logs.filter(({ confirmedAt }) => confirmedAt > 0).length,
    delivered: logs.filter((of) => of.attempts.some(hasResolved)).length,
    cancelled: logs.filter(({ cancelledAt }) => cancelledAt > 0).length,
    /** Attempts beyond the first of a key. */
    repeated: attempts.length - logs.filter((of) => of.attempts.length > 0).length,
    /** What must not happen, in words. */
    faults,
  };
}

function faultsOf(of: KeyLog, persistAfter: number): string[] {
  const faults: string[] = [];
  const { attempts, cancelledAt } = of;
  if (mustBeDelivered(of, persistAfter) && !isDelivered(of)) {
    const isOnce = attempts.some(hasResolved);
    faults.push(
      isOnce ? 'scheduled anew, and not delivered since' : 'confirmed, and delivered by no handler that ended',
    );
  }
  const after = Math.max(...attempts.map(({ at }) => at)) - cancelledAt;
  if (cancelledAt > 0 && after > CLAIMED) faults.push(`cancelled, and delivered ${after} ms later`);
  if (attempts.some(({ isEarly }) => isEarly)) faults.push('delivered early');
  const { confirmedAt, deadline = Number.NaN } = of;
  if (attempts.some((each) => each.at > confirmedAt + CLAIMED && each.deadline < deadline)) {
    faults.push('delivered as it was before it was moved');
  }
  for (const [at, { process, endedAt }] of attempts.slice(0, -1).entries()) {
    // One that a close has interrupted runs on beside the next, and one whose process has lapsed.
    const over = process.isClosed || process.hasLapsed ? undefined : (endedAt ?? process.killedAt);
    if (over !== undefined && attempts[at + 1].at < over) faults.push('two handlers at once');
  }
  return faults;
}

function newLog(by: Loaded): KeyLog {
  const nothing = { confirmedAt: 0, deadline: undefined, called: 0, isCancelCalled: false, cancelledAt: 0 };
  return { by, ...nothing, attempts: [] };
}

/** What all have noted, by key. Adds to `faults` what they report. */
function logOf(processes: readonly Loaded[], [kind]: Store, faults: string[]): Map<string, KeyLog> {
  const keys = new Map<string, KeyLog>();
  for (const process of processes) {
    const lines = process.lines();
    if (process.said !== '') faults.push(`a process said: ${process.said}`);
    const wasSlow = lines.some((line) => line.startsWith('z '));
    process.hasLapsed = wasSlow && kind === 'bullmq'; // whose locks hold for a second
    for (const line of lines) {
      const [what, key, number, flag, deadline] = line.split(' ');
      if (what === 'ready' || what === 'z' || what === 'closed') continue;
      if (what === '!') {
        if (!(wasSlow && LOCK_LOST.test(line))) faults.push(`a process reported: ${line.slice(2)}`);
        continue;
      }
      if (what === 'd') faults.push(`${key}: died`);
      const log = keys.get(key) ?? newLog(process);
      keys.set(key, log);
      const at = Number(number);
      if (what === 'S' || what === 'M') Object.assign(log, { by: process, called: at, deadline: undefined });
      else if (what === 's' || what === 'm') Object.assign(log, { confirmedAt: at, deadline: log.called });
      else if (what === 'C') log.isCancelCalled = true;
      else if (what === 'c') log.cancelledAt = at;
      else if (what === 'B') {
        const begun = { at, isEarly: flag === '1', deadline: Number(deadline), process };
        log.attempts.push({ ...begun, endedAt: undefined, hasResolved: false });
      } else if (what === 'e' || what === 'r') {
        const attempt = log.attempts.findLast((each) => each.process === process) as Attempt;
        Object.assign(attempt, { endedAt: at, hasResolved: what === 'e' });
      }
    }
  }
  for (const { attempts } of keys.values()) attempts.sort((one, other) => one.at - other.at);
  return keys;
}

const hasResolved = (attempt: Attempt): boolean => attempt.hasResolved;

/** What was confirmed last has been delivered; if a later call was not confirmed, anything has. */
const isDelivered = ({ attempts, deadline }: KeyLog): boolean =>
  attempts.some((each) => each.hasResolved && (deadline === undefined || each.deadline === deadline));

/** Confirmed, never cancelled, and not younger than `persistAfter` when its process was killed. */
function mustBeDelivered({ by, confirmedAt, isCancelCalled }: KeyLog, persistAfter: number): boolean {
  if (isCancelCalled || confirmedAt === 0) return false;
  return persistAfter === 0 || by.killedAt === undefined || confirmedAt + persistAfter + STORED < by.toldAt;
}

const now = (): number => Math.round(performance.timeOrigin + performance.now());
