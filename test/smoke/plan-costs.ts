import type { Costs, CpuCost, Service, ServiceCosts } from '../../tools/plan/costs.ts';
import { type PlannedLoad, proxyTimers, timersSignature } from '../../tools/plan/planned-load.ts';

const none: CpuCost = { perConnection: 0, perTurn: 0 };

/** Costs of round numbers: a connection's timers take 4, 2 and 2 µs of the loop, and 1 µs of a shard. */
const modelServices: Record<Service, ServiceCosts> = {
  native: service({ loop: { perConnection: 0.004, perTurn: 0 }, bytesPerTimer: 300, bytesAtRest: 0 }),
  inline: service({ loop: { perConnection: 0.002, perTurn: 0 } }),
  shard: service({
    loop: { perConnection: 0.002, perTurn: 0 },
    shard: { perConnection: 0.001, perTurn: 0 },
    bytesAtRest: 20_000_000,
  }),
};

export function service(own: Partial<ServiceCosts>): ServiceCosts {
  const pauses = { perConnection: 0, lengths: [] };
  const lateness = [1];
  return {
    loop: none,
    shard: none,
    helpers: none,
    pauses,
    lateness,
    bytesPerTimer: 50,
    bytesAtRest: 1_000_000,
    ...own,
  };
}

export const proxyLoad = (cps: number): PlannedLoad => ({ cps, timers: proxyTimers(1000) });

/** `work`: ms per connection. */
export function modelCosts(work: number, services: Partial<Record<Service, ServiceCosts>> = {}): Costs {
  return {
    machine: { node: 'v20.0.0', cores: 2, model: 'model CPU' },
    work,
    isWorkMeasured: false,
    live: 1_000_000,
    timers: timersSignature(proxyLoad(1).timers),
    services: { ...modelServices, ...services },
  };
}
