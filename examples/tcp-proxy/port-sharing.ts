import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';

/**
 * Whether several threads of this process can listen on one port, among which the kernel then deals out the
 * connections: `reusePort` of `server.listen`, which Node has from 22.12 and 23.1 on, and not on every system. Tried,
 * since an older Node ignores the option.
 */
export async function canSharePorts(): Promise<boolean> {
  const [first, second] = [createServer(), createServer()];
  try {
    return await listenTogether(first, second);
  } catch {
    return false; // ENOTSUP of the first, or EADDRINUSE of the second
  } finally {
    for (const server of [first, second]) if (server.listening) server.close();
  }
}

async function listenTogether(first: Server, second: Server): Promise<boolean> {
  const listening: ListenOptions & { reusePort: boolean } = { port: 0, host: '127.0.0.1', reusePort: true };
  first.listen(listening);
  await once(first, 'listening');
  second.listen({ ...listening, port: (first.address() as AddressInfo).port });
  await once(second, 'listening');
  return true;
}
