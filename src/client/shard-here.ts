/** A shard in the client's own thread, as the client knows it: the client's turns are its turns. */
export interface ShardHere {
  /**
   * Files what is wanted of the client's stages, and fires what is due at a tick. Returns whether there is more to do
   * at once.
   */
  turn(tick: number): boolean;
  /** When it needs a turn though no command comes, in ms; Infinity if never. */
  nextTurn(): number;
}
