/** Timers in a store, as every subject has them. Keys are given once. */
export interface DurableSubject {
  schedule(key: string, delay: number): Promise<unknown>;
  /** To another delay, from now. */
  move(key: string, delay: number): Promise<unknown>;
  cancel(key: string): Promise<unknown>;
  /** Records written, moved or removed so far, those of deliveries included. */
  writes(): number | Promise<number>;
  close(): Promise<void>;
}

/** A timer was delivered. */
export type OnDelivery = (key: string) => void;

export type CreateDurable = (onDelivery: OnDelivery) => Promise<DurableSubject>;
