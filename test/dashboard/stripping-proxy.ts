import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../fixtures/event-loop.ts';

/** The path at which the proxy has the dashboard. */
const FOLDER = '/ops/timers';

/**
 * A proxy with the dashboard under `FOLDER`, which it takes off, and nothing else. What it puts in its place: nginx
 * leaves `//…` of a `location` without its last slash. It keeps the Host that it was asked for, or names the server's
 * own.
 */
export async function proxyTo(target: string, { slash = '/', keepsHost = true } = {}) {
  const missed: string[] = [];
  const proxy = createServer((asked, response) => {
    const { headers, method, url = '' } = asked;
    const [, rest] = /^\/ops\/timers\/?((?<=\/)[^?]*(?:\?.*)?|(?:\?.*)?)$/.exec(url) ?? [];
    if (rest === undefined) {
      missed.push(url);
      response.writeHead(404).end();
      return;
    }
    const path = `${url.startsWith(`${FOLDER}/`) ? slash : '/'}${rest}`;
    const host = keepsHost ? headers.host : new URL(target).host;
    const passed = request(target, { method, path, headers: { ...headers, host }, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.end();
  }).listen(0, '127.0.0.1');
  await until(() => proxy.listening);
  const { port } = proxy.address() as AddressInfo;
  return {
    /** The dashboard's folder, without a slash at its end. */
    url: `http://127.0.0.1:${port}${FOLDER}`,
    port,
    /** Paths that were asked for and are not the dashboard's. */
    missed,
    [Symbol.dispose]: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
