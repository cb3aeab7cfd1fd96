/** A task that ends, or hangs, the thread of a shard that runs it; see `ThreadFaults`. */
module.exports = (kind: 'throw' | 'exit' | 'memory' | 'hang'): void => {
  // Later, so that the pool has heard that the task is over: as an error in the shard's own loop comes.
  setTimeout(() => {
    if (kind === 'throw') throw new TypeError('a soak has this thread fail');
    if (kind === 'exit') process.exit(7);
    const hoard: object[][] = [];
    while (kind === 'memory') hoard.push(new Array(10_000).fill({}));
    for (;;);
  }, 10);
};
