import type { ClientLane } from '../../src/client/client-lane.ts';
import type { ClientTime } from '../../src/client/client-time.ts';
import { Delivery } from '../../src/client/delivery.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';

/** Nobody asks for these. One for all, since suites make very many deliveries. */
const lateness = new LatenessHistogram();

/** The delivery of a client that has this one lane, and that a test drives by hand. A callback's error is thrown. */
export function deliveryOf(
  lane: ClientLane,
  time: ClientTime,
  maxBatch: number,
  onRestage: () => void = () => undefined,
): Delivery {
  const host = {
    isClosed: false,
    lanes: [lane],
    restage: (lane: ClientLane, slot: number) => {
      onRestage();
      const deadline = lane.table.deadlineOf(slot);
      lane.restage(slot, deadline, wordOf(time.dueTickOf(deadline, 0)));
    },
  };
  const nothing = () => undefined;
  const failed = (error: unknown) => {
    throw error;
  };
  const events = { emitBatch: nothing, late: nothing, refused: nothing, failed };
  const repeating = undefined as never; // no timer repeats
  const ioFirst = Number.POSITIVE_INFINITY;
  return new Delivery({ client: host, repeating, events, lateness, time, maxBatch, ioFirst });
}
