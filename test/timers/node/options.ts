/**
 * Programs that get the face by `--require`. After `--import` of anything, Node 20 runs an immediate without a ref that the
 * main program sets, also on its own timers.
 */
export const required: readonly string[] = ['test-timers-immediate-promisified', 'test-timers-immediate-unref-simple'];

/**
 * With SHARDWHEEL_TIMERS=always they do otherwise: a timeout runs in a resource of type shardwheel.Timer, and is not itself the
 * resource; delays above 2^31 - 1 ms are kept.
 */
export const notOnWheel: readonly string[] = [
  'async-hooks/test-async-hooks-execution-async-resource',
  'test-timers',
  'test-timers-max-duration-warning',
];
