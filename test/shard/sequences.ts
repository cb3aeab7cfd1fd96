/**
 * Runs every sequence of `length` numbers below `choices`. `run` tells the position of the first number that made no
 * sense where it stood, or -1: sequences that begin in the same way are left out, as a shorter one says the same.
 * Returns how many were run to their end.
 */
export function everySequence(length: number, choices: number, run: (sequence: Uint8Array) => number): number {
  const sequence = new Uint8Array(length);
  let count = 0;
  for (;;) {
    const senseless = run(sequence);
    if (senseless < 0) count += 1;
    let at = senseless < 0 ? length - 1 : senseless;
    sequence.fill(0, at + 1);
    while (at >= 0 && sequence[at] === choices - 1) sequence[at--] = 0;
    if (at < 0) return count;
    sequence[at] += 1;
  }
}
