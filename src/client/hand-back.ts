export const HANDED_BACK = Symbol('handedBack');
export const CANCELLED = Symbol('cancelled');

/** A timer, or a timer's argument, that is told when `close()` ends its wait: it settles what the program waits for. */
export interface HandedBack {
  [HANDED_BACK](): void;
}

/** A timer's argument that is told when a group ends its wait. */
export interface Cancelled {
  [CANCELLED](): void;
}

export const isToldWhenHandedBack = (argument: unknown): argument is HandedBack =>
  typeof argument === 'object' && argument !== null && HANDED_BACK in argument;

export const isToldWhenCancelled = (argument: unknown): argument is Cancelled =>
  typeof argument === 'object' && argument !== null && CANCELLED in argument;
