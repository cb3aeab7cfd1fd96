import type { NewIndex } from '../client/home-wheel.ts';
import { createTickIndex } from '../wheel/create-index.ts';
import type { WheelConfig } from '../wheel/wheel-config.ts';

/** Makes the wheel of a client's drop-in timers: the engine that its shards have, in its own memory. */
export const homeIndex =
  ({ wheel, capacity }: { readonly wheel: WheelConfig; readonly capacity: number }): NewIndex =>
  (now) =>
    createTickIndex(wheel, { capacity, start: now });
