/** What a shard has done for one lane since it was started; counts, and bytes. */
export interface LaneCounters {
  /** Commands taken. */
  commands: number;
  /** Timers handed to the client as due. */
  fired: number;
  /** Entries filed anew because their timer had been moved to later. */
  refiled: number;
  /** Entries dropped because their timer had ended. */
  dropped: number;
  /** Entries moved to a lower level of the wheel. */
  cascaded: number;
  /** Entries in the wheel now. */
  filed: number;
  /** Memory of the lane and its index that has been touched: at most so much is resident. */
  bytes: number;
  /** Address space laid out for them, for the whole capacity. */
  reservedBytes: number;
}
