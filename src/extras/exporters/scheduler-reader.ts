import type { Coordinator } from '../../assembly/coordinator.ts';
import type { LaneHost } from '../../hosts/lane-host.ts';
import { knownOf, statsWith } from '../../scheduler/stats.ts';
import { Untaken } from '../../scheduler/untaken.ts';
import type { ServedCounters } from '../../shard/lane-server.ts';
import { clearTimeout, setTimeout } from '../../time/native-timers.ts';
import type { Reading } from './scheduler-metrics.ts';

type Counters = ServedCounters[] | undefined;

/**
 * Returns what reads a scheduler for an exporter, and never rejects. If a shard does not answer within `timeout` ms, it reports what
 * is known without the shard, and asks it again after it has answered. After close() it returns the client's counts.
 */
export function schedulerReader(coordinator: Coordinator, timeout: number): () => Promise<Reading> {
  /** Questions without an answer. */
  const asked = new Map<LaneHost, Promise<Counters>>();

  /** The counts of a host for each shard; undefined if it does not answer. */
  const ask = (host: LaneHost): Promise<Counters> => {
    const asking = asked.get(host);
    if (asking !== undefined) return asking;
    const answer = host
      .call('stats')
      .catch(() => undefined) // the host was stopped, or there is no memory for the question
      .finally(() => asked.delete(host));
    asked.set(host, answer);
    return answer;
  };

  const readShards = async (untaken: Untaken): Promise<Reading['shards']> => {
    if (coordinator.client.isClosed) return [];
    coordinator.publishAll();
    const hosts = [...coordinator.hosts];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeout);
    });
    const answers = await Promise.all(hosts.map((host) => Promise.race([ask(host), late])));
    clearTimeout(timer);
    if (coordinator.client.isClosed) return [];
    return hosts.flatMap((host, at) =>
      knownOf(coordinator, host).map((known, lane) => {
        const answer = answers[at]?.[lane];
        return answer === undefined ? known : { ...known, ...untaken.note(answer) };
      }),
    );
  };

  return async () => {
    const asked = coordinator.client.isClosed ? undefined : coordinator.askForCounts();
    const untaken = new Untaken(coordinator.number);
    const shards = await readShards(untaken);
    await asked;
    return { ...statsWith(coordinator, [], untaken), shards };
  };
}
