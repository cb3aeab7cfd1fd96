export const NO_CALLBACK = 0;
/** The code for all callbacks without a code of their own. */
export const OUT_OF_LINE = 15;

/**
 * The callbacks that many slots share, by codes from 1 to 14: most programs use a few functions for all their timers. A
 * callback has a code as long as a slot carries it, and is released with the last slot. While all codes are in use, no
 * search is made, so a closure per timer costs none.
 *
 *   callbacks[code] = undefined  <=>  carriers[code] = 0, between calls
 */
export class CallbackPalette {
  /** The latest callback and its code; undefined and NO_CALLBACK if it has been released. */
  recent: unknown = undefined;
  recentCode = NO_CALLBACK;
  /** By code. */
  readonly callbacks = new Array<unknown>(OUT_OF_LINE).fill(undefined);
  private readonly carriers = new Int32Array(OUT_OF_LINE);
  /** Codes from here on have never been used. */
  private end = NO_CALLBACK + 1;
  private isFull = false;

  /** Returns the callback's code, which a slot must then `carry`; OUT_OF_LINE if there is none. */
  codeOf(callback: unknown): number {
    if (callback === undefined) return NO_CALLBACK;
    if (this.isFull) return OUT_OF_LINE;
    const { callbacks, end } = this;
    let code = NO_CALLBACK;
    // Without a branch: the next callback can seldom be predicted, and a wrong prediction costs more than the search.
    for (let each = NO_CALLBACK + 1; each < end; each++) code |= Number(callbacks[each] === callback) * each;
    return code === NO_CALLBACK ? this.admit(callback) : this.note(callback, code);
  }

  /** Called when a slot carries `code` in place of `before`. */
  carry(code: number, before: number): void {
    if (code !== NO_CALLBACK && code !== OUT_OF_LINE) this.carriers[code] += 1;
    if (before !== NO_CALLBACK && before !== OUT_OF_LINE) this.drop(before);
  }

  private admit(callback: unknown): number {
    let code = this.end;
    for (let each = code - 1; each > NO_CALLBACK; each--) if (this.callbacks[each] === undefined) code = each;
    if (code === OUT_OF_LINE) {
      this.isFull = true;
      return OUT_OF_LINE;
    }
    if (code === this.end) this.end += 1;
    this.callbacks[code] = callback;
    return this.note(callback, code);
  }

  private note(callback: unknown, code: number): number {
    this.recent = callback;
    this.recentCode = code;
    return code;
  }

  private drop(code: number): void {
    this.carriers[code] -= 1;
    if (this.carriers[code] > 0) return;
    this.callbacks[code] = undefined;
    this.isFull = false;
    if (this.recentCode !== code) return;
    this.recent = undefined;
    this.recentCode = NO_CALLBACK;
  }
}
