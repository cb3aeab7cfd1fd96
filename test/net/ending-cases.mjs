// Every state of a connection x every way to end: afterwards nothing of its watch is left. Run in threads by
// endings.long.test.ts.
import { once } from 'node:events';
import { socketTimeouts } from '../../lib/net.js';
import { Sockets } from './sockets.mjs';

const HOUR = 3_600_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async (count) => {
  for (let i = 0; i < count; i++) await turn();
};

async function heard({ near, far }) {
  far.write('a');
  await once(near.resume(), 'data');
}

/**
 * What is watched, and what ends: near is a program's side, far its peer; of a proxy there is an upstream, and its
 * peer.
 */
const states = {
  'never connected': (sockets) => ({ near: sockets.connecting() }),
  'an upstream that is never connected': async (sockets) => ({
    ...(await sockets.net()),
    upstream: sockets.connecting(),
  }),
  'a TLS client of silence': (sockets) => sockets.clientOfSilence(),
  'a TLS server of half a hello': (sockets) => sockets.serverOfHalfAHello(),
  silent: (sockets) => sockets.net(),
  open: async (sockets) => {
    const pair = await sockets.net();
    await heard(pair);
    return pair;
  },
  proxied: async (sockets) => {
    const [client, server] = [await sockets.net(), await sockets.net()];
    await heard(client);
    return { ...client, upstream: server.far, farUpstream: server.near };
  },
  'half closed by the peer': async (sockets) => {
    const pair = await sockets.net();
    pair.far.end('a');
    await once(pair.near.resume(), 'end');
    return pair;
  },
  'half closed by itself': async (sockets) => {
    const pair = await sockets.net();
    pair.near.end();
    await once(pair.near, 'finish');
    return pair;
  },
  'TLS, open': (sockets) => sockets.tls(),
  'TLS, proxied': async (sockets) => {
    const [client, server] = [await sockets.tls(), await sockets.tls()];
    return { ...client, upstream: server.far, farUpstream: server.near };
  },
  'a session of an http2 server': (sockets) => sockets.http2(),
  'a session of an http2 client': async (sockets) => {
    const { near, far } = await sockets.http2();
    return { near: far, far: near };
  },
  http: (sockets) => sockets.http(false),
  https: (sockets) => sockets.http(true),
};

const ourSide = ({ near, upstream }) => (upstream === undefined ? [near] : [near, upstream]);
const farSide = ({ far, farUpstream }) => [far, farUpstream].filter((peer) => peer !== undefined);
const all = (connection) => [...ourSide(connection), ...farSide(connection)];
const isSession = (peer) => peer.goaway !== undefined;

/** Ways to end; undefined where a connection has no such way. */
const ways = {
  async end(connection) {
    for (const peer of all(connection)) isSession(peer) ? peer.close() : peer.resume().end();
    await turns(20);
    for (const peer of all(connection)) if (!peer.destroyed) peer.destroy(); // what is not open cannot end
  },
  destroy: (connection) => ourSide(connection).map((peer) => peer.destroy()),
  'destroy with an error': (connection) => ourSide(connection).map((peer) => peer.destroy(new Error('of a test'))),
  'one is destroyed, then the other': async (connection) => {
    const [first, second] = ourSide(connection);
    first.destroy();
    await turns(5);
    second?.destroy(new Error('of a test'));
  },
  'reset by the peer': async (connection) => {
    if (connection.far === undefined) return ways.destroy(connection);
    for (const peer of farSide(connection)) isSession(peer) ? peer.destroy() : peer.destroySoon();
    await turns(5);
    for (const peer of farSide(connection)) if (!isSession(peer)) peer.destroy();
    for (const peer of ourSide(connection)) if (!isSession(peer)) peer.resume().write('too late');
    await turns(5);
    ways.destroy(connection);
  },
  'all at once': (connection) => all(connection).map((peer) => peer.destroy()),
  'paused, with data unread': async (connection) => {
    for (const peer of ourSide(connection)) if (!isSession(peer)) peer.pause();
    for (const peer of farSide(connection)) if (!isSession(peer) && peer.writable) peer.write('x'.repeat(100_000));
    await turns(3);
    ways.destroy(connection);
  },
  'under cork': async (connection) => {
    for (const peer of ourSide(connection)) {
      if (isSession(peer) || !peer.writable) continue;
      peer.cork();
      peer.end('never sent');
    }
    await turns(3);
    ways.destroy(connection);
  },
  released: async (connection, { watched, check }) => {
    watched.release();
    watched.release();
    check('when released');
    ways.destroy(connection);
  },
  cut: async (connection, { timeouts }) => {
    await timeouts.drain(0);
    if (ourSide(connection).some(({ destroyed }) => !destroyed)) throw new Error('not destroyed');
  },
};

const listenersOf = (peer) => new Set(peer.eventNames().flatMap((name) => peer.rawListeners(name)));

/** Lines about what is left, and how many cases there were. */
export async function endingFaults(scheduler) {
  const faults = [];
  const limits = { connect: HOUR, secure: HOUR, firstByte: HOUR, idle: HOUR, halfClose: HOUR, lifetime: HOUR };
  const timeouts = socketTimeouts(scheduler, limits);
  let cases = 0;
  for (const [state, open] of Object.entries(states)) {
    for (const [way, end] of Object.entries(ways)) {
      cases += 1;
      const sockets = new Sockets();
      const connection = await open(sockets);
      const ours = ourSide(connection);
      const before = ours.map(listenersOf);
      const watched = timeouts.watch(...ours);
      const added = ours.flatMap((peer, at) => [...listenersOf(peer)].filter((one) => !before[at].has(one)));
      if (added.length < ours.length) faults.push(`${state}, ${way}: ${added.length} listeners`);
      if (scheduler.size < 2) faults.push(`${state}, ${way}: ${scheduler.size} timers while it is watched`);
      const check = (when) => {
        const left = ours.flatMap((peer) => added.filter((one) => listenersOf(peer).has(one)));
        const watches = Object.values(timeouts.counts).reduce((sum, { watched }) => sum + watched, 0);
        const found = { timers: scheduler.size, watches, listeners: left.length };
        if (Object.values(found).some((count) => count > 0))
          faults.push(`${state}, ${way}, ${when}: ${JSON.stringify(found)}`);
      };
      const closed = ours.map((peer) => (peer.destroyed ? undefined : once(peer, 'close')));
      for (const closing of closed) closing?.catch(() => undefined); // an error comes first
      const isClosed = ours.map(
        (peer) => new Promise((resolve) => (peer.closed && peer.destroyed ? resolve() : peer.on('close', resolve))),
      );
      try {
        await end(connection, { watched, check, timeouts });
      } catch (error) {
        faults.push(`${state}, ${way}: ${error.stack}`);
      }
      await Promise.all(isClosed);
      await turn();
      check('at the end');
      sockets.close();
    }
  }
  return { faults, cases };
}

/** Handles of sockets in this thread. */
export const socketHandles = () => process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name));
