import type { EventEmitter } from 'node:events';
import { contexts } from '../async-context/async-context.ts';
import type { FiredBatch } from '../client/delivery-events.ts';
import type { ShardRestart } from '../hosts/shard-restart.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { publishDiagnostics } from './diagnostics.ts';
import { Refusals } from './refusals.ts';
import { guard, reportError, warn } from './report-error.ts';

export interface SchedulerEvents {
  fired: [batch: FiredBatch];
  'shard-restart': [restart: ShardRestart];
  error: [error: unknown];
}

/** Returns events that report to a scheduler's listeners, and to the diagnostics channels. @internal */
export function eventsOf(scheduler: EventEmitter<SchedulerEvents>, shards: number): CoordinatorEvents {
  const refusals = new Refusals();
  return {
    emitBatch: (batch) => guard(scheduler, () => scheduler.emit('fired', batch)),
    failed: (error, context) => contexts.run(context, reportError, scheduler, error),
    restarted: (restart) => {
      publishDiagnostics('shard-restart', { ...restart, scheduler });
      guard(scheduler, () => scheduler.emit('shard-restart', restart));
    },
    wentInline: (error) => {
      publishDiagnostics('inline', { shard: error.shard, error, scheduler });
      warn(scheduler, error);
    },
    late: (turn) => publishDiagnostics('late', { ...turn, scheduler }),
    refused: (shard, capacity, now) => {
      const refused = refusals.add(shard, now);
      if (refused > 0) publishDiagnostics('capacity', { shard, capacity, refused, scheduler });
    },
    shardFailed: (error) => warn(scheduler, error),
    servingChanged: (serving) => publishDiagnostics('serving', { ...serving, shards, scheduler }),
  };
}
