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

/** Deterministic draws: xorshift32. */
export function draws(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
