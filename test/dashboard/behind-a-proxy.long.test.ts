import { expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { OpenedPage } from './opened-page.ts';
import { served } from './served.ts';
import { proxyTo } from './stripping-proxy.ts';

const token = 'a-token-of-16-characters';

/** Until the page shows it: samples come once a second. */
const shows = (what: () => Promise<unknown>) => expect.poll(what, { interval: 50, timeout: 15_000 });

test.each([
  ['with its slash', '/', '/'],
  ['without its slash', '', '/'],
  ['as nginx passes it on', '/', '//'],
] as const)('under a path %s the page is live, and asks for nothing outside that path', async (_name, end, slash) => {
  await using shown = await served();
  for (let i = 0; i < 42; i++) shown.scheduler.scheduleAfter(i, 3_600_000);
  using proxy = await proxyTo(shown.url, { slash });
  await using opened = await OpenedPage.open(`${proxy.url}${end}`);
  await shows(() => opened.number('[data-value=live]')).toBe(42);
  expect(await opened.status()).toBe('Live');
  expect([opened.trouble, proxy.missed]).toEqual([[], []]);
  expect(opened.asked.filter((address) => !address.startsWith('data:'))).toEqual([
    `${proxy.url}${end}`,
    `${proxy.url}/events?from=0`,
  ]);
});

test.each([
  ['with its slash', '/'],
  ['without its slash', ''],
])('under a path %s the token is given once, and goes to no other path', async (_name, end) => {
  await using shown = await served({ token });
  using proxy = await proxyTo(shown.url);
  // Chromium finds every name below localhost on this machine; the server hears the name.
  const named = `http://timers.localhost:${proxy.port}/ops/timers${end}`;
  await using opened = await OpenedPage.open(`${named}?token=${token}`);
  await shows(() => opened.status()).toBe('Live');
  expect(opened.page.url()).toBe(named);
  await opened.page.reload();
  await shows(() => opened.status()).toBe('Live');
  expect([opened.trouble, proxy.missed]).toEqual([[], []]);
  const [cookie] = await opened.page.context().cookies(`${named}/`);
  expect(cookie).toMatchObject({ path: end === '/' ? '/ops/timers' : '/ops', httpOnly: true, sameSite: 'Lax' });
  expect(await opened.page.context().cookies(`http://timers.localhost:${proxy.port}/`)).toEqual([]);
});

test('a proxy that keeps its own name is refused without a token, and one that names the server is not', async () => {
  await using shown = await served();
  using keeps = await proxyTo(shown.url);
  const named = `http://timers.localhost:${keeps.port}/ops/timers/`;
  await using refused = await OpenedPage.open(named);
  expect(await refused.page.textContent('body')).toContain('Without a token, this dashboard is at 127.0.0.1');
  using renames = await proxyTo(shown.url, { keepsHost: false });
  await using opened = await OpenedPage.open(named.replace(`${keeps.port}`, `${renames.port}`));
  await shows(() => opened.status()).toBe('Live');
});

test('the command line watches it there', async () => {
  await using shown = await served({ token });
  for (let i = 0; i < 42; i++) shown.scheduler.scheduleAfter(i, 3_600_000);
  using proxy = await proxyTo(shown.url);
  for (const end of ['', '/', `?token=${token}`]) {
    const env = { SHARDWHEEL_TOKEN: end.includes('token') ? undefined : token };
    const { code, stdout, stderr } = await runCommand(['watch', '--once', '--json', `${proxy.url}${end}`], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout).size).toBe(42);
  }
});
