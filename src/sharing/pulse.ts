import { processMilliseconds } from '../time/monotonic-clock.ts';

/**
 * Shows whether a thread is alive, and wakes its event loop, for threads that share only memory.
 *
 * It keeps WAITERS waits (`Atomics.waitAsync`) on one word. An asking thread removes one of them by
 * `Atomics.notify`. If there is none left, the keeper's thread is gone, since its waits end with it. A keeper that is
 * busy leaves the rest of them in place; later it answers each question by a new wait.
 *
 *     group: waited     0, always
 *            asked      questions so far
 *            answered   questions whose wait has been replaced
 *            checkedAt  when `isGone` last asked, ms
 *            gone       the keeper for whom a question has found no wait
 *            checks     how often `isGone` has asked since the keeper last answered
 *            seen       what was answered when `isGone` last looked
 *
 * A question counts before it takes a wait, and is answered after a new one is in place. So while fewer are open than
 * there are waits, one wait is left for each question, and a question that finds none is proof. RESERVE of the waits
 * are never used in this count: a thread that ends between counting and taking leaves one open for ever, and one that
 * asks a former keeper of these words takes a wait without counting it here.
 *
 * Each check without an answer doubles the time until the next. So a thread that is busy for hours and then ends
 * is found as well: at the latest when it has been gone for as long as it was busy. News is told of by a few open
 * questions: whoever finds them open needs no other, and leaves the rest of the waits to the checks.
 */
const WAITED = 0;
const ASKED = 1;
const ANSWERED = 2;
const CHECKED_AT = 3;
const GONE = 4;
const CHECKS = 5;
const SEEN = 6;

const WAITERS = 32;
const RESERVE = 8;
/** Open questions from which news needs no other; more than one, for one that is never answered counts as open. */
const ENOUGH_OPEN = 4;

/** ms between two checks, while all questions are answered. */
const INTERVAL_MS = 100;

/** The keeper's side. A thread's waits neither hold the process nor outlive the thread. */
export class PulseKeeper {
  private readonly words: Int32Array;
  private onBoardChange: (() => void) | undefined;
  private isHeld = true;

  /** From now on the keeper counts as alive. `words`: a separate group. */
  constructor(words: Int32Array) {
    this.words = words;
    for (const word of [ASKED, ANSWERED, CHECKS, SEEN]) Atomics.store(words, word, 0);
    Atomics.store(words, CHECKED_AT, processMilliseconds() - INTERVAL_MS);
    for (let i = 0; i < WAITERS; i++) this.wait();
  }

  /** Calls the function after each question. One that is asked in this turn of the event loop is not missed. */
  listen(onBoardChange: () => void): void {
    this.onBoardChange = onBoardChange;
  }

  /** Ends the waits. */
  release(): void {
    this.isHeld = false;
    Atomics.notify(this.words, WAITED);
  }

  private wait(): void {
    const wait = Atomics.waitAsync(this.words, WAITED, 0);
    if (wait.async) void wait.value.then(this.asked);
  }

  private readonly asked = (): void => {
    if (!this.isHeld) return;
    this.wait();
    Atomics.add(this.words, ANSWERED, 1); // after the new wait
    this.onBoardChange?.();
  };
}

/** The others' side. */
export class Pulse {
  private readonly words: Int32Array;
  private readonly keeper: number;

  /** `keeper`: not 0, and never the name of another keeper of the same words, before or after. */
  constructor(words: Int32Array, keeper: number) {
    this.words = words;
    this.keeper = keeper;
  }

  /** Whether the keeper is known to be gone. May ask; usually costs only some loads. */
  isGone(): boolean {
    const { words } = this;
    if (Atomics.load(words, GONE) === this.keeper) return true;
    const now = processMilliseconds();
    const last = Atomics.load(words, CHECKED_AT);
    if (((now - last) | 0) < INTERVAL_MS * 2 ** this.checks()) return false;
    if (Atomics.compareExchange(words, CHECKED_AT, last, now) !== last) return false; // another thread asks
    Atomics.add(words, CHECKS, 1);
    return !this.ask();
  }

  private checks(): number {
    const { words } = this;
    const answered = Atomics.load(words, ANSWERED);
    if (Atomics.exchange(words, SEEN, answered) !== answered) Atomics.store(words, CHECKS, 0);
    return Atomics.load(words, CHECKS);
  }

  /** Wakes the keeper: it then sees everything that was stored before this call. Returns whether it may be alive. */
  wake(): boolean {
    const { words } = this;
    const open = (Atomics.load(words, ASKED) - Atomics.load(words, ANSWERED)) | 0;
    return open >= ENOUGH_OPEN || this.ask(); // it looks at the board after each answer, so after those, too
  }

  /** Takes a wait. Returns whether there was one, or too many questions are open to tell. */
  private ask(): boolean {
    const { words } = this;
    const open = (Atomics.add(words, ASKED, 1) - Atomics.load(words, ANSWERED)) | 0;
    if (open >= WAITERS - RESERVE) {
      Atomics.sub(words, ASKED, 1); // it wakes anyway, if it is alive
      return true;
    }
    if (Atomics.notify(words, WAITED, 1) > 0) return true;
    Atomics.store(words, GONE, this.keeper); // by name: by now the words may have another keeper
    return false;
  }
}
