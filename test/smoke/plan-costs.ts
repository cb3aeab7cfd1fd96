import type { Costs, Service, ServiceCosts } from '../../tools/plan/costs.ts';
import { type PlannedLoad, proxyTimers, timersSignature } from '../../tools/plan/planned-load.ts';

const none = { perConnection: 0, perTurn: 0 };

export const service = (own: Partial<ServiceCosts>): ServiceCosts => ({
  loop: none,
  shard: none,
  helpers: none,
  pauses: { perConnection: 0, lengths: [] },
  lateness: [1],
  bytesPerTimer: 50,
  bytesAtRest: 1_000_000,
  ...own,
});

export const loop = (perConnection: number, perTurn = 0) => ({ loop: { perConnection, perTurn } });
export const shard = (perConnection: number, perTurn = 0) => ({ shard: { perConnection, perTurn } });

export const proxyLoad = (cps: number): PlannedLoad => ({ cps, timers: proxyTimers(1000) });

/**
 * Costs of round numbers: a connection's timers take 4, 2 and 2 µs of the loop, and 1 µs of a shard.
 * `work`: ms per connection.
 */
export const modelCosts = (work: number, services: Partial<Record<Service, ServiceCosts>> = {}): Costs => ({
  machine: { node: 'v20.0.0', cores: 2, model: 'model CPU' },
  work,
  isWorkMeasured: false,
  live: 1_000_000,
  timers: timersSignature(proxyLoad(1).timers),
  services: {
    native: service({ ...loop(0.004), bytesPerTimer: 300, bytesAtRest: 0 }),
    inline: service(loop(0.002)),
    shard: service({ ...loop(0.002), ...shard(0.001), bytesAtRest: 20_000_000 }),
    ...services,
  },
});
