import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createScheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { expect, test } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { ask, Watcher } from './dashboard-client.ts';
import { connected, served } from './served.ts';

const token = 'a-token_of-16-chars-and-more';

test('without a token: under a name of loopback alone', async () => {
  await using shown = await served();
  const statusOf = async (host: string) => (await ask(shown.url, '/', { headers: { Host: host } })).status;
  const allowed = ['127.0.0.1', 'localhost', 'localhost:7373', '127.0.0.1:1', '[::1]:7373'];
  expect(await Promise.all(allowed.map(statusOf))).toEqual(allowed.map(() => 200));
  const refused = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:7373',
    '10.0.0.1',
    '127.0.0.1@evil.example',
  ];
  expect(await Promise.all(refused.map(statusOf))).toEqual(refused.map(() => 403));
  const { socket, line } = await connected(shown.url, 'GET / HTTP/1.0\r\n\r\n'); // no Host at all
  expect(line).toBe('HTTP/1.1 403 Forbidden');
  socket.destroy();
  const events = await ask(shown.url, '/events', { headers: { Host: 'evil.example' } });
  expect([events.status, events.text]).toEqual([403, expect.stringContaining('127.0.0.1')]);
});

test('no page of another site', async () => {
  await using shown = await served();
  const statusOf = async (path: string, site: string) =>
    (await ask(shown.url, path, { method: 'HEAD', headers: { 'Sec-Fetch-Site': site } })).status;
  expect(await Promise.all(['cross-site', 'same-site'].map((site) => statusOf('/events', site)))).toEqual([403, 403]);
  expect(await Promise.all(['same-origin', 'none'].map((site) => statusOf('/events', site)))).toEqual([200, 200]);
  expect(await statusOf('/', 'cross-site')).toBe(200); // a link to it
});

test('with a token: whoever carries it, in the address, a cookie or a header, on every path', async () => {
  await using shown = await served({ token });
  expect(shown.url).not.toContain(token);
  for (const path of ['/', '/events', '/nothing']) {
    expect([path, (await ask(shown.url, path)).status]).toEqual([path, 401]);
    for (const wrong of [`${token}x`, token.slice(1), '']) {
      const headers = { Authorization: `Bearer ${wrong}`, Cookie: `shardwheel-${new URL(shown.url).port}=${wrong}` };
      expect((await ask(shown.url, path, { headers })).status).toBe(401);
      expect((await ask(shown.url, `${path}?token=${wrong}`)).status).toBe(401);
    }
  }
  const entered = await ask(shown.url, `/?token=${token}`);
  const [cookie] = entered.headers['set-cookie'] as string[];
  expect([entered.status, entered.headers.location]).toEqual([303, '?']);
  expect(cookie).toMatch(/^shardwheel-\d+=[\w-]+; HttpOnly; SameSite=Lax$/);
  expect((await ask(shown.url, '/', { headers: { Cookie: `a=b; ${cookie.split(';')[0]}` } })).status).toBe(200);
  expect((await ask(shown.url, '/', { headers: { Authorization: `bearer ${token}` } })).status).toBe(200);
  (await Watcher.open(shown.url, `?token=${token}`))[Symbol.dispose]();
});

test('with a token: under any name, on loopback as elsewhere, and never without it', async () => {
  await using shown = await served({ token });
  for (const Host of ['timers.example', 'timers.example:8443', '10.0.0.1', 'evil.example']) {
    const Authorization = `Bearer ${token}`;
    expect((await ask(shown.url, '/', { headers: { Host, Authorization } })).status).toBe(200);
    expect((await ask(shown.url, '/', { headers: { Host } })).status).toBe(401);
  }
});

test('elsewhere than on loopback: only with a token', async () => {
  const scheduler = createScheduler({ shards: 0 });
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.evil.example']) {
    const refused = { code: 'ERR_INVALID_CONFIG', message: expect.stringContaining(`got '${host}'`) };
    await expect(serveDashboard(scheduler, { host, port: 0 })).rejects.toMatchObject(refused);
  }
  const { url } = await serveDashboard(scheduler, { host: '0.0.0.0', port: 0, token });
  expect(new URL(url).hostname).toBe('localhost');
  const headers = { Host: 'proxy.example', Authorization: `Bearer ${token}` };
  expect((await ask(url.replace('localhost', '127.0.0.1'), '/', { headers })).status).toBe(200);
  await scheduler.close();
});

test('options that cannot work', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const ports = [-1, 65_536, 1.5, '80'].map((port) => ({ port }));
  const hosts = ['', 7].map((host) => ({ host }));
  const tokens = ['too short', 'with a blank, or ; for a cookie', 16].map((token) => ({ token }));
  for (const options of [...ports, ...hosts, ...tokens, null, 7]) {
    const refused = { code: expect.stringMatching(/ERR_INVALID_(CONFIG|ARG_TYPE)/) };
    await expect(serveDashboard(scheduler, options as never)).rejects.toMatchObject(refused);
  }
  await expect(serveDashboard(scheduler, { token: 'a secret' })).rejects.not.toThrow('a secret');
  await expect(serveDashboard({} as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
});

test('not on a port that is in use', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const other = createServer().listen(0, '127.0.0.1');
  await until(() => other.listening);
  const { port } = other.address() as AddressInfo;
  const refused = { name: 'DashboardError', code: 'ERR_PORT_IN_USE' };
  await expect(serveDashboard(scheduler, { port })).rejects.toMatchObject(refused);
  await expect(serveDashboard(scheduler, { port })).rejects.toThrow(`port ${port} of 127.0.0.1`);
  expect(scheduler.listenerCount('shard-restart')).toBe(0);
  other.close();
});
