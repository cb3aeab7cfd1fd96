import Table from 'cli-table3';
import { count, milliseconds } from '../../bench/replay/format.ts';
import type { Advice } from './advice.ts';
import { type Candidate, type PlanRequest, titleOf } from './arrangements.ts';
import type { Costs } from './costs.ts';
import { firesPerConnection, liveTimers, operationsPerConnection } from './planned-load.ts';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

interface Row {
  readonly title: string;
  readonly show: (candidate: Candidate) => string;
}

const rowsFor = ({ cores }: PlanRequest): readonly Row[] => [
  { title: 'each event loop busy', show: ({ prediction }) => percent(prediction.loopCpu) },
  { title: '  with timers', show: ({ prediction }) => percent(prediction.timersCpu) },
  {
    title: 'each shard busy',
    show: ({ arrangement, prediction }) => (arrangement.shards === 0 ? '–' : percent(prediction.shardCpu)),
  },
  { title: `cores busy, of ${cores}`, show: ({ prediction }) => prediction.busyCores.toFixed(2) },
  { title: 'memory of timers, MiB', show: ({ memory }) => mebibytes(memory) },
  { title: 'lateness p50, ms', show: ({ prediction }) => milliseconds(prediction.lateness.p50) },
  { title: 'lateness p99, ms', show: ({ prediction }) => milliseconds(prediction.lateness.p99) },
  { title: 'longest turn, ms', show: ({ prediction }) => milliseconds(prediction.longestTurn) },
  { title: 'holds, connections/s', show: ({ highest }) => count(highest) },
  { title: '  and then is short of', show: ({ breaksAt }) => breaksAt },
];

/** What the terminal shows of a plan. */
export function renderPlan(request: PlanRequest, costs: Costs, all: readonly Candidate[], advice: Advice): string {
  const { load, loops } = request;
  const { machine, work } = costs;
  const table = new Table({
    head: ['', ...all.map(({ arrangement }) => titleOf(arrangement))],
    colAligns: ['left', ...all.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const { show, title } of rowsFor(request)) table.push([title, ...all.map(show)]);
  const { options } = advice;
  const call =
    options &&
    `createScheduler({ shards: ${options.shards}, capacity: ${count(options.capacity).replaceAll(',', '_')} })`;
  return [
    `Node ${machine.node}, ${machine.cores} × ${machine.model}: costs measured with ${count(costs.live)} live timers on one event loop`,
    `${count(load.cps)} connections per second on ${loops} ${loops === 1 ? 'event loop' : 'event loops'}: ${count(liveTimers(load))} timers live, ` +
      `${count(load.cps * operationsPerConnection(load))} operations and ${count(load.cps * firesPerConnection(load))} that fire in each second`,
    `a connection takes ${(work * 1000).toFixed(1)} µs of its event loop beside its timers (${costs.isWorkMeasured ? 'measured: TCP, one answer; say yours by --work' : 'as you said'})`,
    '',
    table.toString(),
    '',
    ...(call === undefined ? [] : [call]),
    ...advice.sentences,
  ].join('\n');
}
