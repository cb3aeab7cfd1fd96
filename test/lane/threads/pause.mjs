import { xorshift } from '../../../dist/bench/replay/xorshift.js';

const word = new Int32Array(new SharedArrayBuffer(4));

/** Lets another thread have the processor, after `spins` calls in a row that did not. */
export class Pause {
  calls = 0;

  constructor(spins = 50) {
    this.spins = spins;
  }

  take() {
    this.calls += 1;
    if (this.calls % this.spins === 0) Atomics.wait(word, 0, 0, 0.01);
  }
}

/** Deterministic draws. */
export function draws(seed) {
  let state = seed;
  return () => {
    state = xorshift(state);
    return state >>> 0;
  };
}
