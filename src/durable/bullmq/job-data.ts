import type { StoredTimer } from '../stored-timer.ts';

/** The data of a job: what BullMQ's own fields do not have. Times in ms since 1970. */
export interface JobData {
  key: string;
  deadline: number;
  /** When it is to be delivered. The job's delay may end before: then it is delayed once more. */
  due: number;
  /** Attempts that have begun; more may be counted beside the data. */
  attempts: number;
  /** The payload's bytes in base64. */
  payload?: string;
}

export const jobDataOf = ({ key, deadline, due, attempts, payload }: StoredTimer): JobData => ({
  key,
  deadline,
  due,
  attempts,
  ...(payload !== undefined && { payload: Buffer.from(payload).toString('base64') }),
});

/** `attempts`: those beside the data. */
export const timerOf = (name: string, data: JobData, attempts: number): StoredTimer => ({
  name,
  key: data.key,
  deadline: data.deadline,
  due: data.due,
  attempts: data.attempts + attempts,
  payload: data.payload === undefined ? undefined : Buffer.from(data.payload, 'base64'),
});
