import { GAP, LEFT, RANDOM, SPREAD } from './connection-table.ts';
import type { ReplayOptions } from './options.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT, type TimerKind } from './timer-kind.ts';
import { xorshift } from './xorshift.ts';

/** The event that is waited for never comes: the timer has to end the wait. */
export const NEVER = 0;

/** Share of upstream connects that are never answered. */
const lostConnects = 1e-4;
const quantiles = 4096;

/**
 * What connections do, and when: drawn from published measurements where there are any.
 *
 * | drawn                   | distribution                       | source                                             |
 * |-------------------------|------------------------------------|----------------------------------------------------|
 * | lifetime                | lognormal, mean 8 s, sigma 1.4     | Kandula et al., "Nature of Datacenter Traffic"     |
 * |                         | 80 % under 10 s, 0.1 % over 200 s  | (IMC 2009): over 80 % of flows under 10 s, fewer   |
 * |                         |                                    | than 0.1 % over 200 s; most are short-lived mice   |
 * | requests per connection | geometric, mean 3                  | HTTP Archive forum, "Distribution of HTTP requests |
 * |                         | (median 2, 75th percentile 4)      | per TCP connection": half under 3, 75th pct. 4     |
 * | connect to the upstream | lognormal, median 1.2 ms, sigma 1  | Guo et al., "Pingmesh" (SIGCOMM 2015): well below  |
 * |                         | (99th percentile 12 ms)            | 1 ms inside a data centre; the tail stands for     |
 * |                         |                                    | upstreams in a neighbouring one                    |
 * | connects never answered | 0.01 %                             | the same: probes are dropped at 10^-4 to 10^-5     |
 * | answer to a request     | lognormal, median 20 ms, sigma 1   | assumed; `--hang` of them never come               |
 * | pause between requests  | lifetime / requests, times 0.5…1.5 | follows from the two                               |
 *
 * Timeouts: Envoy's documented defaults are 5 s to connect and 15 s for a route, Linux keeps TIME-WAIT for 60 s. They
 * are scaled down (1 s, 3 s, 1 s) so that a replay of ten seconds sees them fire; the idle timeout keeps its 60 s, as
 * it is moved all the time and never meant to fire. Every one is a flag. Arrivals are evenly spaced.
 *
 * Every connection draws from its own xorshift32, seeded with the run's seed and its number. So what it does is the
 * same in every run of the same seed, however the clock and the machine interleave it with the others. No allocation
 * and no logarithm per draw: distributions are tables of 4096 quantiles.
 */
export class Workload {
  readonly #seed: number;
  readonly #lifetimes: Int32Array;
  readonly #requests: Int32Array;
  readonly #connects: Int32Array;
  readonly #answers: Int32Array;
  readonly #lostConnect: number;
  readonly #hang: number;
  readonly #timeouts: Int32Array;
  readonly #jitter: Int32Array;

  constructor(options: ReplayOptions) {
    this.#seed = Math.imul(options.seed, 0x9e3779b1) | 0;
    const sigma = 1.4;
    this.#lifetimes = table((q) => options.lifetime * 1000 * Math.exp(sigma * normal(q) - sigma ** 2 / 2));
    this.#requests = table((q) => (options.requests === 1 ? 1 : Math.log(1 - q) / Math.log(1 - 1 / options.requests)));
    this.#connects = table((q) => 1.2 * Math.exp(normal(q)));
    this.#answers = table((q) => 20 * Math.exp(normal(q)));
    this.#lostConnect = lostConnects * 2 ** 31;
    this.#hang = (options.hang / 100) * 2 ** 31;
    this.#timeouts = new Int32Array(4);
    this.#timeouts[CONNECT] = Math.ceil(options.connectTimeout * 1000);
    this.#timeouts[IDLE] = Math.ceil(options.idleTimeout * 1000);
    this.#timeouts[REQUEST] = Math.ceil(options.requestTimeout * 1000);
    this.#timeouts[TIME_WAIT] = Math.ceil(options.timeWait * 1000);
    this.#jitter = this.#timeouts.map((ms) => Math.round((ms * options.jitter) / 100));
  }

  /** Creates connection `id`: writes its record at `base`. */
  begin(words: Int32Array, base: number, id: number): void {
    words[base + RANDOM] = mix(id ^ this.#seed);
    const requests = this.#requests[draw(words, base) >>> 19]!;
    words[base + LEFT] = requests;
    words[base + GAP] = Math.max(1, (this.#lifetimes[draw(words, base) >>> 19]! / requests) | 0);
    words[base + SPREAD] = words[base + RANDOM]! >>> 20;
  }

  /** Milliseconds until the upstream accepts, or `NEVER`. */
  connectDelay(words: Int32Array, base: number): number {
    const random = draw(words, base);
    return random < this.#lostConnect ? NEVER : this.#connects[draw(words, base) >>> 19]!;
  }

  /** Milliseconds until the answer, or `NEVER`. */
  answerDelay(words: Int32Array, base: number): number {
    const random = draw(words, base);
    return random < this.#hang ? NEVER : this.#answers[draw(words, base) >>> 19]!;
  }

  /** Milliseconds from an answer to the next request or to the close, or `NEVER`: longer than the idle timeout. */
  pause(words: Int32Array, base: number): number {
    const pause = 1 + Math.floor(words[base + GAP]! * (0.5 + draw(words, base) * 2 ** -31));
    return pause < this.timeout(IDLE, words, base) ? pause : NEVER;
  }

  /** The delay of a connection's timers of that kind, in whole ms. */
  timeout(kind: TimerKind, words: Int32Array, base: number): number {
    return this.#timeouts[kind]! + Math.floor((this.#jitter[kind]! * words[base + SPREAD]!) / quantiles);
  }
}

/** 4096 quantiles, at the middle of each step, as whole numbers >= 1. */
function table(quantile: (q: number) => number): Int32Array {
  return Int32Array.from({ length: quantiles }, (_, step) => {
    return Math.min(0x3fffffff, Math.max(1, Math.ceil(quantile((step + 0.5) / quantiles))));
  });
}

/** One step of the record's generator. Its upper 31 bits: no double to allocate. */
function draw(words: Int32Array, base: number): number {
  const state = xorshift(words[base + RANDOM]!);
  words[base + RANDOM] = state;
  return state >>> 1;
}

/** Spreads consecutive numbers over all bits (finalizer of MurmurHash3). Never 0, where xorshift would stay. */
function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash | 0 || 1;
}

/** Inverse of the standard normal distribution, by bisection on its density's integral: called 4096 times per table. */
function normal(q: number): number {
  let low = -6;
  let high = 6;
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (cumulative(middle) < q) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Phi(x), by its power series: exact to 1e-12 for |x| <= 6. */
function cumulative(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 3; Math.abs(term) > 1e-16; n += 2) {
    term *= (x * x) / n;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
