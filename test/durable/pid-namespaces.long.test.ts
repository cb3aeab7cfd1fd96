import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DurableTimers, lmdbStore, openDurableTimers } from 'shardwheel/durable';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { note } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

const program = fileURLToPath(new URL('./programs/neighbour.mjs', import.meta.url));
const namespace = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const succeeds = (command: string, args: string[]): boolean => spawnSync(command, args).status === 0;
/** How to enter a pid namespace here; undefined where that is refused. */
const flags = [namespace, ['--user', '--map-root-user', ...namespace]].find((all) =>
  succeeds('unshare', [...all, 'true']),
);
/** Whether other users and a /proc of one's own are to be had here. */
const hasUsers = succeeds('unshare', [
  '--mount',
  'sh',
  '-c',
  'mount -t proc -o hidepid=2 proc /proc && setpriv --reuid 1001 true',
]);

/** Longer than it takes until one of another namespace counts as dead. */
const TAKEN_OVER = 60_000;
const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: TAKEN_OVER, interval: 20 });

let path: string;
const neighbours: Neighbour[] = [];
const opened: DurableTimers[] = [];
beforeEach(() => {
  path = newFolder();
});
afterEach(async () => {
  await Promise.all(neighbours.splice(0).map((one) => one.kill()));
  await Promise.all(opened.splice(0).map((timers) => timers.close()));
});

/** A process with the store open. */
class Neighbour {
  readonly said: string[] = [];
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;

  constructor([command, ...args]: string[]) {
    this.child = spawn(command, [...args, process.execPath, program, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.ended = once(this.child, 'exit');
    let text = '';
    this.child.stdout?.on('data', (part) => {
      const lines = `${text}${part}`.split('\n');
      text = lines.pop() as string;
      this.said.push(...lines);
    });
    neighbours.push(this);
  }

  says(line: RegExp): Promise<void> {
    return until(() => expect(this.said.join('\n')).toMatch(line));
  }

  async asks(line: string, answer: RegExp): Promise<void> {
    this.child.stdin?.write(`${line}\n`);
    await this.says(answer);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Sends a signal to the process that `unshare` has made. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.child;
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')), name);
  }
}

const elsewhere = (): Neighbour => new Neighbour(['unshare', ...(flags as string[])]);
const beside = (): Neighbour => new Neighbour(['env']);
const refused = /^refused ERR_STORE_IN_USE The LMDB store .* is open in a process of another pid namespace/m;

async function openHere(): Promise<DurableTimers> {
  const timers = await openDurableTimers({ store: lmdbStore({ path }) });
  opened.push(timers);
  return timers;
}

describe.skipIf(flags === undefined)('processes of several pid namespaces (skipped where unshare is refused)', () => {
  test('one namespace has a store at a time, and the next has its timers', async () => {
    const first = elsewhere();
    await first.says(/^open 1$/m);
    await Promise.all([elsewhere().says(refused), beside().says(refused)]);
    await first.asks('schedule k 1000000', /^scheduled k$/m);
    await first.asks('close', /^closed$/m);
    const timers = await openHere();
    const seen = note(timers);
    expect(await timers.reschedule('a', 'k', Date.now())).toBe(true);
    await until(() => expect(seen.map(({ key }) => key)).toEqual(['k']));
    await elsewhere().says(refused);
    await beside().says(/^open/m);
    expect(first.said).not.toContain('runs k');
  }, 120_000);

  test('of several that open a new store at once, one does', async () => {
    const all = Array.from({ length: 4 }, elsewhere);
    await Promise.all(all.map((one) => one.says(/^(open|refused)/m)));
    const codes = all.map(({ said }) => said[0].split(' ', 2).join(' ')).sort();
    expect(codes).toEqual(['open 1', ...Array(3).fill('refused ERR_STORE_IN_USE')]);
  }, 120_000);

  test('one that was killed is followed when it has been silent for ten seconds', async () => {
    const first = elsewhere();
    await first.asks('schedule hangs 0', /^runs hangs$/m);
    await first.asks('schedule k 1000000', /^scheduled k$/m);
    await first.kill();
    const next = elsewhere();
    await next.says(/^runs hangs$/m);
    await next.asks('schedule k 0', /^runs k$/m);
    expect(next.said[0]).toBe('open 1');
  }, 120_000);

  test('one that stood still learns that the store is no longer its own, and confirms nothing', async () => {
    const first = elsewhere();
    await first.asks('schedule k 1000000', /^scheduled k$/m);
    first.signal('SIGSTOP');
    await elsewhere().says(refused); // the kernel has the locks of the other with this process id
    const timers = await openHere();
    first.signal('SIGCONT');
    await first.says(/^error ERR_STORE_LOCK_LOST$/m);
    await first.asks('schedule lost 1000000', /^rejected schedule ERR_STORE_LOCK_LOST$/m);
    await first.asks('close', /^rejected close ERR_STORE_LOCK_LOST$/m);
    expect(await timers.get('a', 'k')).toBeDefined();
    await timers.schedule('a', 'kept', Date.now() + 1e6);
    expect(await timers.get('a', 'lost')).toBeUndefined();
  }, 120_000);
});

test.skipIf(!hasUsers)(
  'processes that /proc hides from each other have one store (skipped without root)',
  async () => {
    chmodSync(path, 0o777);
    const hidden = (user: number): Neighbour => {
      const enter = `umask 0; mount -t proc -o hidepid=2 proc /proc; exec setpriv --reuid ${user} --regid 2000 --clear-groups "$@"`;
      return new Neighbour(['unshare', '--mount', 'sh', '-c', enter, 'sh']);
    };
    const first = hidden(1001);
    await first.asks('schedule hangs 0', /^runs hangs$/m);
    const other = hidden(1002);
    await other.asks('schedule k 0', /^scheduled k$/m);
    await first.says(/^runs k$/m);
    await new Promise((resolve) => setTimeout(resolve, 2000)); // some beats
    expect(other.said.filter((line) => line.startsWith('runs'))).toEqual([]);
    await first.kill();
    await other.says(/^runs hangs$/m);
  },
  120_000,
);
