import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./programs/loaded.mjs', import.meta.url));

interface Begin {
  readonly key: string;
  readonly at: number;
  readonly process: Loaded;
}

/** What BullMQ's store says when a process has given no sign of life for long enough to count as dead. */
const LOCK_LOST = 'took a timer from this worker';

/** What has been said of one key. */
interface KeyLog {
  /** Of each call of `schedule`: its deadline, and when it was confirmed; 0 if it was not. */
  readonly schedules: { readonly deadline: number; confirmedAt: number }[];
  isCancelCalled: boolean;
  /** When cancel was true; 0 if it was not. */
  cancelledAt: number;
  readonly begins: Begin[];
  /** Handlers that came to their end. */
  ends: number;
}

/** A process that runs programs/loaded.mjs. */
class Loaded {
  wasKilled = false;
  private readonly child: ChildProcess;
  private readonly file: string;
  private readonly ended: Promise<unknown>;

  constructor(store: readonly string[], name: string, folder: string, mode: 'load' | 'drain') {
    this.file = join(folder, name);
    this.child = spawn(process.execPath, [program, ...store, name, this.file, mode], { stdio: 'inherit' });
    this.ended = once(this.child, 'exit');
  }

  /** What it has noted so far, in whole lines. */
  lines(): string[] {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Resolves when it has noted a line of this kind. */
  async noted(kind: 'ready' | 'B'): Promise<void> {
    for (let left = 30_000; left > 0; left -= 5) {
      if (this.lines().some((line) => line.split(' ')[0] === kind)) return;
      await pause(5);
    }
    throw new Error(`A process has noted no line of '${kind}' within 30 s`);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.wasKilled ||= signal === 'SIGKILL';
    this.child.kill(signal);
    await this.ended;
  }
}

export interface KillRun {
  readonly kills: number;
  /** Timers whose schedule was confirmed. */
  readonly confirmed: number;
  readonly delivered: number;
  readonly cancelled: number;
  /** Handlers that did not come to their end. */
  readonly interrupted: number;
  /** Deliveries that began again after a process had died during the one before. */
  readonly repeated: number;
  /** What must not happen, in words. */
  readonly faults: readonly string[];
}

/**
 * Keeps `processes` under load on one store, kills one after another, and then lets the last ones deliver what is left. Pauses of up to `pauses` ms
 * follow the start of a process, or when it is ready; or, if it is alone, its first delivery, so some die while they deliver, however slow the
 * machine. Returns what happened, by what the processes have said.
 */
export async function killAtRandom(
  store: readonly [kind: string, where: string],
  { kills, processes, pauses, random }: { kills: number; processes: number; pauses: number; random: () => number },
): Promise<KillRun> {
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-kill-run-'));
  const all: Loaded[] = [];
  const start = (mode: 'load' | 'drain'): Loaded => {
    const process = new Loaded(store, `p${all.length}`, folder, mode);
    all.push(process);
    return process;
  };
  let log = new Map<string, KeyLog>();
  const faults: string[] = [];
  try {
    const running = Array.from({ length: processes }, () => start('load'));
    for (let kill = 0; kill < kills; kill++) {
      const victim = running[kill % processes];
      if (random() < 0.8) await victim.noted(processes === 1 ? 'B' : 'ready'); // else while it starts
      await pause(random() * pauses);
      await victim.kill('SIGKILL');
      running[kill % processes] = start('load');
    }
    await Promise.all(running.map((process) => process.kill('SIGKILL')));

    const last = Array.from({ length: processes }, () => start('drain'));
    const isDone = (): boolean => {
      log = logOf(all, []);
      return [...log.values()].every((key) => !mustBeDelivered(key) || key.ends > 0);
    };
    for (let left = 300; left > 0 && !isDone(); left--) await pause(100);
    await pause(1500); // for deliveries that must not come
    await Promise.all(last.map((process) => process.kill('SIGTERM')));
    log = logOf(all, faults);
  } finally {
    await Promise.all(all.map((process) => process.kill('SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  }

  let repeated = 0;
  for (const [key, of] of log) {
    const { schedules, begins, cancelledAt } = of;
    if (mustBeDelivered(of) && of.ends === 0) faults.push(`${key}: confirmed, and delivered by no handler that ended`);
    // A handler that a killed process had begun is over: its timer can be cancelled.
    const isDelivered = begins.some(({ at, process }) => at > cancelledAt || !process.wasKilled);
    if (cancelledAt > 0 && isDelivered) faults.push(`${key}: cancelled, and delivered`);
    for (const { at } of begins) {
      const [first, moved] = schedules;
      const isMoved = moved !== undefined && moved.confirmedAt !== 0 && moved.confirmedAt < first.deadline;
      const earliest = isMoved ? moved.deadline : first.deadline;
      if (at < earliest) faults.push(`${key}: delivered ${earliest - at} ms early`);
    }
    repeated += Math.max(0, begins.length - 1);
    for (const { process } of begins.slice(0, -1)) {
      if (!process.wasKilled) faults.push(`${key}: delivered again, though its process was not killed`);
    }
  }
  const logs = [...log.values()];
  return {
    kills: kills + processes,
    confirmed: logs.filter(({ schedules }) => schedules[0]?.confirmedAt > 0).length,
    delivered: logs.filter(({ begins }) => begins.length > 0).length,
    cancelled: logs.filter(({ cancelledAt }) => cancelledAt > 0).length,
    interrupted: logs.reduce((sum, { begins, ends }) => sum + begins.length - ends, 0),
    repeated,
    faults,
  };
}

/** What all have noted, by key. Adds to `faults` what they report. */
function logOf(processes: readonly Loaded[], faults: string[]): Map<string, KeyLog> {
  const keys = new Map<string, KeyLog>();
  for (const process of processes) {
    const lines = process.lines();
    const wasSlow = lines.some((line) => line.startsWith('z '));
    for (const line of lines) {
      const [what, key, number] = line.split(' ');
      if (what === 'ready' || what === 'z') continue;
      if (what === '!') {
        if (!(wasSlow && line.includes(LOCK_LOST))) faults.push(`a process reported: ${line.slice(2)}`);
        continue;
      }
      const log = keys.get(key) ?? { schedules: [], isCancelCalled: false, cancelledAt: 0, begins: [], ends: 0 };
      keys.set(key, log);
      if (what === 'S') log.schedules.push({ deadline: Number(number), confirmedAt: 0 });
      else if (what === 's') (log.schedules.at(-1) as KeyLog['schedules'][number]).confirmedAt = Number(number);
      else if (what === 'C') log.isCancelCalled = true;
      else if (what === 'c') log.cancelledAt = Number(number);
      else if (what === 'e') log.ends += 1;
      else if (what === 'B') log.begins.push({ key, at: Number(number), process });
    }
  }
  for (const { begins } of keys.values()) begins.sort((one, other) => one.at - other.at);
  return keys;
}

const mustBeDelivered = ({ schedules, isCancelCalled }: KeyLog): boolean =>
  !isCancelCalled && schedules.some(({ confirmedAt }) => confirmedAt > 0);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
