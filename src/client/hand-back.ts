export const HANDED_BACK = Symbol('handedBack');

/** A timer, or a timer's argument, that is told when `close()` ends its wait: it settles what the program waits for. */
export interface HandedBack {
  [HANDED_BACK](): void;
}

export const isToldWhenHandedBack = (argument: unknown): argument is HandedBack =>
  typeof argument === 'object' && argument !== null && HANDED_BACK in argument;
