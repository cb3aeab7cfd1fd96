import { performanceNow } from '../../../unfaked.ts';

/** ms that one look can add to a silence: this process may have stood still itself, and the other with it. */
const MAX_CHECK_INTERVAL_MS = 1000;

interface Sign {
  text: string;
  /** ms without a change, and when that was last looked at. */
  silence: number;
  lookedAt: number;
  hasBeaten: boolean;
}

/**
 * Whether others live that the kernel says nothing of: each changes a text of its own again and again. What counts is a
 * change that was seen, and for how long none was; no two clocks are compared.
 */
export class LifeSigns {
  private readonly seen = new Map<string, Sign>();
  private readonly now: () => number;

  /** `now`: ms of the monotonic clock. */
  constructor(now = performanceNow) {
    this.now = now;
  }

  /**
   * Notes what another's text is now. Returns for how many ms of looking it has not changed, and whether it ever has.
   */
  look(other: string, text: string): Readonly<Pick<Sign, 'silence' | 'hasBeaten'>> {
    const now = this.now();
    const sign = this.seen.get(other) ?? { text, silence: 0, lookedAt: now, hasBeaten: false };
    this.seen.set(other, sign);
    if (sign.text === text) {
      sign.silence += Math.min(now - sign.lookedAt, MAX_CHECK_INTERVAL_MS);
    } else {
      sign.text = text;
      sign.silence = 0;
      sign.hasBeaten = true;
    }
    sign.lookedAt = now;
    return sign;
  }

  forget(other: string): void {
    this.seen.delete(other);
  }
}
