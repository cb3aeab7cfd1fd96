import type { Scale } from '../../engine/suite.ts';
import type { Figures } from '../loading/spawned.ts';

/** What a process is to measure. */
export interface RateTask extends Scale {
  readonly load: 'fires' | 'pairs' | 'replay';
  readonly subject: string;
  /** Operations per second; of the replay, connections. */
  readonly rate: number;
}

/** Measures it in this process. Throws where the subject does wrong. */
export type RateLoad = (task: RateTask) => Promise<Figures>;
