import type { Ledger } from '../../bench/replay/ledger.ts';
import type { SoakLoad } from './soak-load.ts';

/** What an event loop has done and seen so far: told once a second, so that little is unknown of one that is ended. */
export interface ClientReport {
  readonly opened: number;
  readonly live: number;
  readonly armed: number;
  readonly moved: number;
  readonly cancelled: number;
  readonly fired: number;
  readonly early: number;
  readonly doubled: number;
  readonly refused: number;
  readonly miscounts: number;
  /** ms: the longest lateness. */
  readonly latest: number;
  /** Known at the end. */
  readonly lost: number;
  readonly handedBack: number;
  readonly errors: readonly string[];
}

export const COUNTED = [
  'opened',
  'armed',
  'moved',
  'cancelled',
  'fired',
  'handedBack',
  'early',
  'lost',
  'doubled',
  'refused',
  'miscounts',
] as const;

export function reportOf(load: SoakLoad, errors: readonly string[], lost = 0): ClientReport {
  const { opened, miscounts } = load;
  const { live, armed, moved, cancelled, fired, early, doubled, refused, handedBack, lateness }: Ledger = load.ledger;
  const counts = { opened, live, armed, moved, cancelled, fired, early, doubled, refused, handedBack, miscounts };
  return { ...counts, latest: lateness.max, lost, errors };
}
