import { type LaneMemory, RECORD_SHIFT } from '../lane/lane-memory.ts';
import type { TickIndex } from '../wheel/tick-index.ts';

/** The work of a shard for one lane since the shard was started: counts, and bytes. */
export interface LaneCounters {
  /** Commands taken. */
  commands: number;
  /** Timers handed to the client as due. */
  fired: number;
  /** Entries filed again because their timer had been moved to later. */
  refiled: number;
  /** Entries dropped because their timer had ended. */
  dropped: number;
  /** Entries moved to a lower level of the wheel. */
  cascaded: number;
  /** Entries now: in the wheel or, of a lane that has few, in its list. */
  filed: number;
  /** Memory of the lane and its index that has been touched: at most this much is resident. */
  bytes: number;
  /** Address space laid out for them, for the whole capacity. */
  reservedBytes: number;
}

const BYTES_PER_COMMAND = 16;
const BYTES_PER_RECORD = 4 << RECORD_SHIFT;

/**
 * Computes the bytes from the slots used so far and the commands that came by the ring. `noteBytes`: the bytes per slot
 * that the shard keeps beside its index.
 * @internal
 */
export function bytesOfLane(
  memory: LaneMemory,
  index: TickIndex,
  slots: number,
  commands: number,
  noteBytes: number,
): Pick<LaneCounters, 'bytes' | 'reservedBytes'> {
  const perSlot = BYTES_PER_RECORD + noteBytes;
  const reserved = memory.table.byteLength + memory.capacity * noteBytes;
  const rings = memory.commands.cells.byteLength + memory.fired.cells.byteLength;
  return {
    bytes: slots * perSlot + index.bytesFor(slots) + Math.min(rings, commands * BYTES_PER_COMMAND),
    reservedBytes: reserved + index.bytes + rings,
  };
}
