import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass, until } from '../fixtures/event-loop.ts';

const CONNECTIONS = process.env.SHARDWHEEL_SLOW === undefined ? 2_400 : 51_000;
const AT_ONCE = 400;
const LEAST_AT_ONCE = 20;

const limits = { firstByte: 1_000, idle: 1_400, halfClose: 900, lifetime: 6_000 };
type Kind = keyof typeof limits;

/** ms beyond 1.25 times a limit, and the time that the loops stood still, until a client has seen its end. */
const ALLOWANCE = 5_000;
/** ms of a pause of a client that means to pause for 200 at most. */
const LATE = 600;
/** ms by which the clocks of two threads may differ. */
const CLOCKS = 2;

/** ms for which a client does not read. */
const BLIND = 3.5 * limits.idle;

const server = new URL('./watched-server.mjs', import.meta.url).href;

/** What a client has noted of its connection, by its own clock. */
interface Note {
  readonly plan: string;
  readonly port: number;
  /** By which limit it is to end; undefined: by one of its ends. */
  readonly kind: Kind | undefined;
  /** When the time of that limit began, at the earliest. */
  readonly from: number;
  readonly endedAt: number;
  /** Whether the client itself, on a busy machine, was so late that its plan says nothing any more. */
  readonly wasLate: boolean;
}

/** Plays its part, and resolves with what begins its limit's time. */
type Play = (socket: Socket, draws: Draws, openedAt: number) => Promise<number>;

/** By socket: when it last did something, and the longest pause. */
const pauses = new WeakMap<Socket, { at: number; longest: number }>();

function noteMove(socket: Socket): number {
  const pause = pauses.get(socket) ?? { at: Date.now(), longest: 0 };
  pause.longest = Math.max(pause.longest, Date.now() - pause.at);
  pause.at = Date.now();
  pauses.set(socket, pause);
  return pause.at;
}

async function talk(socket: Socket, first: string, draws: Draws, times: number): Promise<number> {
  let at = noteMove(socket);
  socket.write(first);
  for (let i = 0; i < times && !socket.destroyed; i++) {
    await pass(draws.below(200));
    at = noteMove(socket);
    socket.write('k');
  }
  return at;
}

const plans: Readonly<Record<string, readonly [kind: Kind | undefined, play: Play]>> = {
  'never says a word': ['firstByte', async (_, _draws, openedAt) => openedAt],
  'falls silent': ['idle', (socket, draws) => talk(socket, 'k', draws, draws.below(5))],
  'is not read': ['idle', (socket, draws) => talk(socket, 'p', draws, 0)],
  'does not read': ['idle', (socket, draws) => talk(socket, 'w', draws, 0)],
  'talks on and on': [
    'lifetime',
    async (socket, draws, openedAt) => {
      while (!socket.destroyed) await talk(socket, 'k', draws, 1);
      return openedAt;
    },
  ],
  'ends, and is not answered': [
    'halfClose',
    async (socket, draws) => {
      await talk(socket, 'k', draws, draws.below(3));
      socket.end();
      return Date.now() - 1;
    },
  ],
  'does not answer the end': [
    'halfClose',
    async (socket, draws) => {
      const at = await talk(socket, 'f', draws, 0);
      void talk(socket, 'k', draws, Number.POSITIVE_INFINITY); // a reset is seen by whoever writes
      return at;
    },
  ],
  'ends, and is answered': [
    undefined,
    async (socket, draws) => {
      const at = await talk(socket, 'e', draws, draws.below(4));
      socket.end();
      return at;
    },
  ],
  'is destroyed': [undefined, (socket, draws) => talk(socket, 'd', draws, draws.below(3))],
  resets: [
    undefined,
    async (socket, draws) => {
      const at = await talk(socket, 'e', draws, draws.below(4));
      socket.resetAndDestroy();
      return at;
    },
  ],
  'is gone at once': [
    undefined,
    async (socket) => {
      socket.resetAndDestroy();
      return Date.now();
    },
  ],
};

/** One connection, from its opening to its end as the client sees it. */
function live(port: number, plan: string, draws: Draws): Promise<Note> {
  const [kind, play] = plans[plan];
  return new Promise((resolve, reject) => {
    const openedAt = Date.now();
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    noteMove(socket);
    let from = Promise.resolve(openedAt);
    let localPort = 0;
    let isConnected = false;
    socket.on('error', () => undefined); // a reset is an end
    socket.on('connect', () => {
      isConnected = true;
      localPort = socket.localPort ?? 0;
      if (plan === 'does not read') setTimeout(() => socket.resume(), BLIND);
      else socket.resume();
      noteMove(socket);
      from = play(socket, draws, openedAt);
    });
    const over = async () => {
      const endedAt = Date.now();
      if (!isConnected) reject(new Error('it was not connected'));
      const { longest } = pauses.get(socket) as { longest: number };
      resolve({ plan, port: localPort, kind, from: await from, endedAt, wasLate: longest > LATE });
      socket.destroy();
    };
    if (plan !== 'does not answer the end') socket.on('end', over);
    socket.on('close', over);
  });
}

async function faultsOf(client: ClientThread, count: number, atOnce = AT_ONCE): Promise<string[]> {
  const port: number = await client.run(
    ({ scheduler, load }, url, limits) => load(url).then((it) => it.listen(scheduler, limits)),
    server,
    limits,
  );
  const delay = monitorEventLoopDelay();
  delay.enable();
  const draws = new Draws(SEED);
  const names = Object.keys(plans);
  const faults: string[] = [];
  const notes: Note[] = [];
  let started = 0;
  const line = async () => {
    while (started < count) {
      started += 1;
      const drawn = draws.pick(names);
      const plan = drawn === 'does not read' && draws.below(8) > 0 ? 'falls silent' : drawn; // megabytes each
      const own = new Draws(SEED + started);
      await live(port, plan, own).then(
        (note) => notes.push(note),
        (error) => faults.push(`${plan}: ${error}`),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, line));
  const report = async () => client.run(({ load }, url) => load(url).then((it) => it.report()), server);
  const cuts = new Map<number, [Kind, number][]>();
  await until(async () => {
    const told: { cuts: [number, Kind, number][]; open: number } = await report();
    for (const [at, ...cut] of told.cuts) cuts.set(at, [...(cuts.get(at) ?? []), cut]);
    return told.open === 0;
  });
  const stalls = delay.max / 1e6 + (await report()).stall;
  delay.disable();
  const late = notes.filter(({ wasLate }) => wasLate);
  const isTooBusy = late.length >= 0.75 * notes.length;
  for (const { port: at } of late) cuts.delete(at);
  const latePorts = new Set(late.map(({ port: at }) => at));
  for (const { plan, port: at, kind, from, endedAt } of notes) {
    if (kind === undefined || latePorts.has(at)) continue;
    const ofPort = cuts.get(at) ?? [];
    const own = ofPort.findIndex(([by, when]) => by === kind && when >= from - CLOCKS);
    // A server that stood still until the next limit was over as well may take either.
    const either = ofPort.findIndex(
      ([by, when]) => by !== kind && when - from >= Math.max(limits[by], limits[kind]) - CLOCKS,
    );
    const [cut] = ofPort.splice((own >= 0 ? own : either) >>> 0, 1);
    if (cut === undefined) {
      faults.push(`${plan}: should be cut by ${kind}, not by ${ofPort}`);
      continue;
    }
    const isBlind = plan === 'does not read';
    const after = (isBlind ? cut[1] : endedAt) - from;
    if (after < limits[kind] - CLOCKS) faults.push(`${plan}: cut after ${after} ms`);
    // a busy server's writes may end only when it is read
    const latest = 1.25 * limits[kind] + ALLOWANCE + stalls + (isBlind ? BLIND : 0);
    if (after > latest) faults.push(`${plan}: cut late, after ${after} ms`);
  }
  for (const [at, left] of cuts) {
    const ofPort = notes.filter((note) => note.port === at).map(({ plan }) => plan);
    for (const [kind] of left) faults.push(`cut by ${kind}, and should not: one of ${ofPort}`);
  }
  const { counts, watched } = await report();
  expect(notes.length + faults.length).toBeGreaterThanOrEqual(count);
  expect(watched).toBeLessThanOrEqual(count);
  for (const kind of Object.keys(limits)) expect(counts[kind].watched, kind).toBe(0);
  expect(await client.run(({ scheduler }) => scheduler.size)).toBe(0);
  await client.run(({ load }, url) => load(url).then((it) => it.close()), server);
  if (!isTooBusy) return faults;
  // Most clients were late themselves: this machine has not the time for so many at once.
  expect(atOnce).toBeGreaterThan(LEAST_AT_ONCE);
  return faultsOf(client, count, atOnce / 2);
}

test.each([0, 1])(
  `${CONNECTIONS} connections end at random, each in time and by its own kind: %i shards, seed ${SEED}`,
  async (shards) => {
    await using client = ClientThread.own({ shards });
    expect(await faultsOf(client, CONNECTIONS / 3)).toEqual([]);
  },
);

test(`the same in a client of a shared scheduler, seed ${SEED}`, async () => {
  await using scheduler = createScheduler({ shards: 1 });
  await using client = ClientThread.connect(scheduler.share());
  expect(await faultsOf(client, CONNECTIONS / 3)).toEqual([]);
});
