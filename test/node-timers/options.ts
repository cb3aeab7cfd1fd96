/** What a program needs of the face to behave as on Node, where the face's own way differs deliberately. */
export interface FaceOptions {
  /** Delays above 2^31 - 1 ms become 1 ms, with a warning. */
  readonly overflow?: 'node';
  /** An interval's next call is due a period after the last one began. */
  readonly missedCalls?: 'delay';
}

/** By program. Any other runs on the face as it is. */
export const options: Readonly<Record<string, FaceOptions>> = {
  'test-timers': { overflow: 'node' },
  'test-timers-max-duration-warning': { overflow: 'node' },
};

/**
 * Programs that get the face by `--require`. After `--import` of anything, Node 20 runs an immediate without a ref that the
 * main program sets, also on its own timers.
 */
export const required: readonly string[] = ['test-timers-immediate-promisified', 'test-timers-immediate-unref-simple'];
