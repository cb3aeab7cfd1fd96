import { inspect } from 'node:util';

/** A call of a wheel, as it was made; timers go by their names. */
export type Move = MoveKind & {
  /** The timer whose handler makes it. */
  readonly during?: number;
};

type MoveKind =
  | { readonly do: 'schedule'; readonly name: number; readonly deadline: unknown; readonly value: unknown }
  | { readonly do: 'best fit'; readonly name: number; readonly deadline: number; readonly value: unknown }
  | { readonly do: 'reschedule'; readonly name: number; readonly deadline: unknown }
  | { readonly do: 'cancel' | 'look up'; readonly name: number }
  | { readonly do: 'stale'; readonly id: number; readonly deadline: number }
  | { readonly do: 'advance'; readonly to: unknown; readonly limit: number | undefined; readonly isFresh: boolean }
  | { readonly do: 'clear' | 'next' | 'bound' | 'inspect' | 'compact' | 'nested' | 'throw' };

/** The move as code, ids by the names of their timers. */
export function moveAsCode(move: Move): string {
  const indent = move.during === undefined ? '' : `  in t${move.during}'s handler: `;
  return indent + callOf(move);
}

function callOf(move: Move): string {
  switch (move.do) {
    case 'schedule':
      return `t${move.name} = schedule(${show(move.deadline)}, ${show(move.value)})`;
    case 'best fit':
      return `t${move.name} = scheduleBestFit(${move.deadline}, ${show(move.value)})`;
    case 'reschedule':
      return `reschedule(t${move.name}, ${show(move.deadline)})`;
    case 'cancel':
      return `cancel(t${move.name})`;
    case 'look up':
      return `has(t${move.name}), get(t${move.name}), deadlineOf(t${move.name})`;
    case 'stale':
      return `has, get, deadlineOf, cancel of the stale id ${move.id}; reschedule(${move.id}, ${move.deadline})`;
    case 'advance':
      return `advanceTo(${show(move.to)}, ${move.isFresh ? 'another handler' : 'handler'}, ${move.limit})`;
    case 'next':
      return 'nextExpiration()';
    case 'bound':
      return 'upperBound';
    case 'inspect':
      return 'checkInvariants(snapshot()), iteration, memoryStats()';
    case 'nested':
      return 'advanceTo(now), which is refused';
    case 'throw':
      return 'throw';
    default:
      return `${move.do}()`;
  }
}

const show = (value: unknown): string => inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
