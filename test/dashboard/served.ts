import { connect, type Socket } from 'node:net';
import { createScheduler } from 'shardwheel';
import { type DashboardOptions, serveDashboard } from 'shardwheel/dashboard';

export const anyPort = { port: 0 };

/** A scheduler inline, and its dashboard. */
export async function served(options: DashboardOptions = {}, shards = 0) {
  const scheduler = createScheduler({ shards, capacity: 65_536 });
  const dashboard = await serveDashboard(scheduler, { ...anyPort, ...options });
  return { scheduler, url: dashboard.url, dashboard, [Symbol.asyncDispose]: () => scheduler.close() as Promise<never> };
}

/** Connects, sends some text, and waits for the first line that comes back; '' where none does. */
export function connected(url: string, text: string): Promise<{ socket: Socket; line: string }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    let got = '';
    socket.on('error', () => undefined).on('close', () => resolve({ socket, line: '' }));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      got += chunk;
      if (got.includes('\r\n')) resolve({ socket, line: got.slice(0, got.indexOf('\r\n')) });
    });
  });
}
