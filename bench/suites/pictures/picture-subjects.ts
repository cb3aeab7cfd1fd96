import type { Subject } from '../../replay/subjects/subject.ts';
import { createRateTimers, DRIVER, DROP_IN, INLINE, NODE, rateSubjects, SHARD } from '../rates/rate-subjects.ts';

/**
 * Those of the rates, without the registered program: it has Node's timers while they are few, and the wheel's beyond.
 */
export const pictureSubjects = rateSubjects.filter(({ name }) => [DRIVER, NODE, INLINE, SHARD, DROP_IN].includes(name));

/** The same without the driver, where its share is nothing to take off. */
export const pictureTimers = pictureSubjects.filter(({ name }) => name !== DRIVER);

/** Timers of one kind, numbered 0 .. handles - 1. */
export const createPictureTimers = (name: string, handles: number, onFire: (timer: number) => void): Promise<Subject> =>
  createRateTimers(name, handles, (_kind, timer) => onFire(timer));
