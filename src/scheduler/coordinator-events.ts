import type { EventEmitter } from 'node:events';
import { runInContext } from '../async-context/async-context.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { publishDiagnostics } from './diagnostics.ts';
import type { SchedulerEvents } from './scheduler.ts';
import { announce, guard, surface } from './surface.ts';

/** Tells a scheduler's listeners, and those of the diagnostics channels, what becomes of its timers and shards. */
export function coordinatorEvents(scheduler: EventEmitter<SchedulerEvents>, shards: number): CoordinatorEvents {
  return {
    emitBatch: (batch) => guard(scheduler, () => scheduler.emit('fired', batch)),
    failed: (error, context) => runInContext(context, surface, scheduler, error),
    restarted: (restart) => {
      publishDiagnostics('shard-restart', restart);
      guard(scheduler, () => scheduler.emit('shard-restart', restart));
    },
    wentInline: (error) => {
      publishDiagnostics('inline', { shard: error.shard, error });
      announce(scheduler, error);
    },
    shardFailed: (error) => announce(scheduler, error),
    servingChanged: (serving) => publishDiagnostics('serving', { ...serving, shards }),
  };
}
