/** The four timers of a connection. A number, because it is an index on the hot path. */
export type TimerKind = 0 | 1 | 2 | 3;

export const CONNECT = 0;
export const IDLE = 1;
export const REQUEST = 2;
export const TIME_WAIT = 3;
