// A session service over HTTP on two processes, with one store in LMDB. Each process is killed by SIGKILL every second,
// in turn, while users log in, come back and log out. Shows timers that outlive their process: each session expires
// once, not before its time, whichever process is left; one that was logged out does not.
//
// Measured (Node 20.20, 2 cores that the users shared): 3,300 requests in 8 s with a kill each second; of 834 sessions
// that had to expire all did, the median 5 ms late, the last 640 ms, as its process had been killed; 2 expired twice,
// killed while they were being noted.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countOption } from '../count-option.ts';
import { type Session, SessionLoad } from './session-load.ts';

const LIFETIME = 1000;
const kills = countOption('kills', { value: 8, max: 1000, help: 'processes that are killed, one a second' });
const folder = mkdtempSync(join(tmpdir(), 'shardwheel-sessions-'));
const entry = fileURLToPath(new URL(`./server-process${import.meta.url.slice(-3)}`, import.meta.url));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const children: ChildProcess[] = [];

/**
 * A process of the service, and the port it listens on: a new one each time, as another program may take the old one
 * meanwhile.
 */
async function start(): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(entry, [folder, `${LIFETIME}`]);
  children.push(child);
  const port = await Promise.race([
    once(child, 'message').then(([port]) => port as number),
    once(child, 'exit').then(([code]) => {
      throw new Error(`A process of the service ended before it listened, with code ${code}`);
    }),
  ]);
  return { child, port };
}

try {
  const services = await Promise.all([start(), start()]);
  const load = new SessionLoad(() => services.map(({ port }) => port), LIFETIME);
  const running = load.run(50);
  for (let kill = 0; kill < kills; kill++) {
    await pause(700 + Math.random() * 300);
    const victim = kill % 2;
    const ended = once(services[victim].child, 'exit');
    services[victim].child.kill('SIGKILL');
    await ended;
    services[victim] = await start();
  }
  load.end();
  await running;
  await pause(LIFETIME + 1500);
  await Promise.all(
    services.map(async ({ child }) => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }),
  );

  const expired = new Map<string, number[]>();
  let early = 0;
  for (const line of readFileSync(join(folder, 'expired'), 'utf8').trim().split('\n')) {
    const id = line.slice(0, 36);
    const [deadline, at] = line.split(' ').slice(-2).map(Number);
    if (at < deadline) early += 1;
    expired.set(id, [...(expired.get(id) ?? []), at]);
  }
  const { sessions, answered, failed } = load;
  const live = sessions.filter(({ end }) => end === 'expires');
  const deleted = sessions.filter(({ end }) => end === 'deleted');
  const timesOf = (id: string): number[] => expired.get(id) ?? [];
  const lateness = live
    .flatMap(({ id, latest }) => timesOf(id).map((at) => at - latest))
    .sort((one, other) => one - other);
  console.log(`processes killed: ${kills}`);
  console.log(`requests answered: ${answered}, broken off: ${failed}`);
  console.log(
    `sessions that had to expire: ${live.length}, expired: ${live.filter(({ id }) => timesOf(id).length > 0).length}`,
  );
  // A process that is killed as it notes a session has not ended the timer: the session may be used once more before it
  // expires again, or be logged out.
  const isCutShort = ({ id, expires }: Session): boolean =>
    timesOf(id).length > 0 && Math.max(...timesOf(id)) < expires;
  const isExpiredAfter = ({ id, deleted }: Session): boolean => timesOf(id).some((at) => at > deleted);
  console.log(`before their time: ${early + live.filter(isCutShort).length}`);
  console.log(`logged out: ${deleted.length}, expired all the same: ${deleted.filter(isExpiredAfter).length}`);
  console.log(`expired more than once: ${[...expired.values()].filter(({ length }) => length > 1).length}`);
  console.log(`late by (ms): median ${lateness[lateness.length >> 1]}, most ${lateness.at(-1)}`);
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
