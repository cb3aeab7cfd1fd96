import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** ms: two sums of doubles may differ by as much. */
const ROUNDING = 1e-3;

/** What is known of a timer, from what its thread has noted. */
interface Noted {
  readonly name: string;
  readonly kind: string;
  id: string;
  /** When its time has come at the earliest: by the last move, and by one that may not have been made. ms */
  earliest: number;
  moving: number;
  readonly period: number;
  calls: number;
  /** How it has ended, each time that somebody says so. */
  readonly endings: string[];
  readonly heard: string[];
}

const WAITS = ['sleep', 'withTimeout', 'signal'];
const IN_TIME = ['resolved', 'ERR_TIMEOUT'];

/** What a waiter hears where its timer has ended so; undefined: nothing. */
const heardOf: Record<string, readonly (string | undefined)[]> = {
  cancelled: ['ABORT_ERR'],
  anywhere: ['ABORT_ERR'],
  'handed back': ['ERR_SCHEDULER_CLOSED', undefined],
  aborted: ['ABORT_ERR', 'outer'],
  settled: ['settled'],
  disposed: [undefined],
};

/** Judges what the clients of one process have noted, in their files: see noted-load.mjs. */
export class OutsideLedger {
  readonly wrong: string[] = [];
  readonly counts: Record<string, number> = {};
  private readonly byId = new Map<string, Noted>();
  private readonly asked = new Map<string, number>();
  private readonly answered = new Map<string, number>();
  private readonly clean: Noted[] = [];

  constructor(folder: string) {
    for (const file of readdirSync(folder)) this.read(file, readFileSync(join(folder, file), 'utf8'));
    this.settle();
    for (const timer of this.byId.values()) this.judge(timer);
    for (const timer of this.clean) this.judgeEnd(timer);
  }

  /** The last line may be cut. */
  private read(file: string, text: string): void {
    const lines = text.split('\n').slice(0, -1);
    const timers = new Map<string, Noted>();
    for (const line of lines) this.note(file, timers, line.split(' '));
    const isClean = lines.at(-1) === 'E';
    this.count(isClean ? 'clients that ended' : 'clients that were ended');
    if (isClean) this.clean.push(...timers.values());
  }

  private note(file: string, timers: Map<string, Noted>, [kind, name, what, ms, at]: string[]): void {
    if (kind === 'S') {
      const earliest = Number(ms) + Number(at);
      const noted = { name: `${file}/${name}`, kind: what, id: '', earliest, moving: earliest, period: Number(ms) };
      timers.set(name, { ...noted, calls: 0, endings: [], heard: [] });
      this.count(what);
      return;
    }
    if (kind === 'a') this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
    if (kind === 'A') this.answered.set(name, (this.answered.get(name) ?? 0) + 1);
    if (kind === 'W') this.wrong.push(`${file}: ${[name, what, ms, at].join(' ')}`);
    const timer = timers.get(name);
    if (timer === undefined || kind === 'a' || kind === 'A') return;
    switch (kind) {
      case 's':
        timer.id = what;
        if (this.byId.has(what)) this.wrong.push(`${timer.name}: the id ${what} is given twice`);
        this.byId.set(what, timer);
        break;
      case 'D':
        this.delivered(timer, Number(what));
        break;
      case 'C':
        timer.endings.push('cancelled');
        break;
      case 'U':
        timer.endings.push('handed back');
        break;
      case 'O':
        timer.endings.push(what);
        break;
      case 'M':
        timer.moving = Number(what) + Number(ms);
        timer.earliest = Math.min(timer.earliest, timer.moving);
        break;
      case 'm':
        timer.earliest = timer.moving;
        break;
      case 'H':
        timer.heard.push(what);
        if (what === 'settled') timer.endings.push(what);
        if (IN_TIME.includes(what)) this.delivered(timer, Number(ms));
        break;
    }
  }

  private delivered(timer: Noted, at: number): void {
    this.count('delivered');
    if (timer.endings.length > 0) this.wrong.push(`${timer.name} is delivered, though ${timer.endings}`);
    const earliest = timer.earliest + timer.calls * timer.period;
    if (at < earliest - ROUNDING) this.wrong.push(`${timer.name}, ${timer.kind}, is early by ${earliest - at} ms`);
    if (timer.kind === 'repeating') timer.calls += 1;
    else timer.endings.push('delivered');
  }

  /** `cancelAnywhere` of any client. */
  private settle(): void {
    for (const [id, count] of this.answered) {
      if (count > 1) this.wrong.push(`${id} was cancelled ${count} times`);
      const timer = this.byId.get(id);
      if (timer === undefined) continue; // its thread was ended before it could note the id
      timer.endings.push('anywhere');
    }
  }

  private judge({ endings, heard, kind, name }: Noted): void {
    if (endings.length > 1) this.wrong.push(`${name}, ${kind}, has ended ${endings.length} times: ${endings}`);
    if (heard.length > 1) this.wrong.push(`${name}, ${kind}, has been told ${heard}`);
  }

  /** Of a client that has come to its end. */
  private judgeEnd({ endings, heard, id, kind, name }: Noted): void {
    // Who has asked for its end, and was ended before the answer, may have ended it.
    const isAsked = (this.asked.get(id) ?? 0) > 0;
    const how = endings[0] ?? (isAsked ? 'anywhere' : 'lost');
    this.count(how);
    if (how === 'lost') this.wrong.push(`${name}, ${kind}, is lost; heard ${heard}`);
    else if (WAITS.includes(kind)) {
      const [told] = heard;
      const right = how === 'delivered' ? IN_TIME : heardOf[how];
      if (!right.includes(told)) this.wrong.push(`${name}, ${kind}, was ${how}, and heard ${told}`);
      if (told !== undefined) this.count('heard');
    }
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
