import type { TimerId } from '../timer-id.ts';
import type { ClientLane } from './client-lane.ts';

/**
 * A place in the program that has scheduled timers. Counts are estimates: recorded calls, divided by the share of recorded calls.
 */
export interface CallSite {
  /** The first frame outside this package, as V8 writes it: `arm (file:///app/idle.js:12:9)`. */
  site: string;
  /** The frames from there on, at most 8. */
  stack: string[];
  scheduled: number;
  /** Live timers now. */
  live: number;
}

/** Maximum of distinct sites; further ones count as OTHER. @internal */
export const MAX_SITES = 1000;
const OTHER = '(other)';
const MAX_FRAMES = 8;
/** Frames to request from V8, including those of this package. */
const STACK_LIMIT = MAX_FRAMES + 8;
/** Timers remembered before it first drops ended ones. */
const FIRST_LOOK = 1024;

/** Matches this file in a stack: alone, or in the chunk that the build makes. The text before it is the package's folder. */
const HERE = /(?:\(|^)([^()]*[\\/])(?:client[\\/]call-sites|chunks[\\/]scheduler)\.c?[jt]s:/;

interface Site {
  readonly stack: string[];
  seen: number;
}

/**
 * Finds out which code schedules timers: records the stack of a random share of all calls. A call that is not recorded costs a
 * decrement, a recorded one some 20 µs. Drop-in timers are left to `shardwheel/profile`. Recorded timers are remembered by id
 * until they have ended, as a `TimerGroup` remembers its own.
 * @internal
 */
export class CallSites {
  private readonly share: number;
  private readonly random: () => number;
  private readonly isLive: (id: TimerId) => boolean;
  private readonly sites = new Map<string, Site>();
  private ids = new Map<TimerId, Site>();
  private lookAt = FIRST_LOOK;
  /** Calls until the next recorded one. */
  private left: number;

  /** `share` of calls to record, above 0, at most 1. */
  constructor(share: number, isLive: (id: TimerId) => boolean, random = Math.random) {
    this.share = share;
    this.isLive = isLive;
    this.random = random;
    this.left = this.gap();
  }

  /** Called after a timer was scheduled by the present call. Never throws. */
  count(lane: ClientLane, slot: number): void {
    this.left -= 1;
    if (this.left > 0) return;
    this.left = this.gap();
    this.note(lane.table.idOf(slot));
  }

  private note(id: TimerId): void {
    const stack = stackHere();
    const name = stack[0] ?? OTHER;
    let site = this.sites.get(name);
    if (site === undefined) {
      const key = this.sites.size < MAX_SITES ? name : OTHER;
      site = this.sites.get(key) ?? { stack: key === OTHER ? [] : stack, seen: 0 };
      this.sites.set(key, site);
    }
    site.seen += 1;
    this.ids.set(id, site);
    if (this.ids.size >= this.lookAt) this.dropEnded();
  }

  /** Returns all sites, those with most live timers first. */
  all(): CallSite[] {
    this.dropEnded();
    const live = new Map<Site, number>();
    for (const site of this.ids.values()) live.set(site, (live.get(site) ?? 0) + 1);
    const estimate = (seen: number): number => Math.round(seen / this.share);
    return [...this.sites]
      .map(([name, site]) => ({
        site: name,
        stack: [...site.stack],
        scheduled: estimate(site.seen),
        live: estimate(live.get(site) ?? 0),
      }))
      .sort((one, other) => other.live - one.live || other.scheduled - one.scheduled);
  }

  private dropEnded(): void {
    this.ids = new Map([...this.ids].filter(([id]) => this.isLive(id)));
    this.lookAt = Math.max(FIRST_LOOK, 2 * this.ids.size);
  }

  /** Geometrically distributed, so each call is equally likely to be recorded, whatever the program's rhythm. */
  private gap(): number {
    if (this.share === 1) return 1;
    return 1 + Math.floor(Math.log(1 - this.random()) / Math.log(1 - this.share));
  }
}

/** The frames of the present call outside this package, the innermost first. */
function stackHere(): string[] {
  const holder: { stack?: unknown } = {};
  const limit = Error.stackTraceLimit;
  try {
    Error.stackTraceLimit = STACK_LIMIT;
    Error.captureStackTrace(holder);
    const frames = String(holder.stack).split('\n').slice(1);
    const names = frames.map((frame) => frame.trim().replace(/^at /, ''));
    const own = HERE.exec(names[0] ?? '')?.[1];
    const outside = own === undefined ? names : names.filter((name) => !name.includes(own)); // else: bundled
    return outside.slice(0, MAX_FRAMES);
  } catch {
    return []; // the program's own function for stacks has thrown, or Error is frozen
  } finally {
    restore(limit);
  }
}

function restore(limit: number): void {
  try {
    Error.stackTraceLimit = limit;
  } catch {
    // Frozen, so it was not changed before.
  }
}
