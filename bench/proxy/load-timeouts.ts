import type { ProxyTimeouts } from '../../examples/tcp-proxy/proxy.ts';

/** The limits that the load is judged by: all of the proxy's. */
export type LoadTimeouts = Required<ProxyTimeouts>;
