import { InvalidArgumentError, InvalidConfigError } from '../../errors.ts';
import { requireInteger, requireOptions } from '../../known-options.ts';
import { process } from '../../process.ts';
import { type DurableStats, type DurableStatsSource, statsSourceOf } from '../durable/durable-stats.ts';

/** `serveDashboard` cannot serve. */
export class DashboardError extends Error {
  readonly code: 'ERR_PORT_IN_USE' | 'ERR_LISTEN_FAILED' | 'ERR_DASHBOARD_SERVED';
  override readonly name = 'DashboardError';

  constructor(code: DashboardError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static notListening(host: string, port: number, cause: NodeJS.ErrnoException): DashboardError {
    const isInUse = cause.code === 'EADDRINUSE';
    const why = isInUse ? 'the port is in use; { port: 0 } takes any that is free' : cause.message;
    const message = `The dashboard cannot listen on port ${port} of ${host}: ${why}`;
    return new DashboardError(isInUse ? 'ERR_PORT_IN_USE' : 'ERR_LISTEN_FAILED', message, { cause });
  }

  static denied(host: string, port: number): DashboardError {
    const message = `The dashboard cannot listen on port ${port} of ${host}: --permission denies it, and --allow-net allows it`;
    return new DashboardError('ERR_LISTEN_FAILED', message);
  }

  /** `where`: the address of the other dashboard; undefined while it does not listen yet. */
  static twice(where: string | undefined): DashboardError {
    const place = where === undefined ? '' : `, at ${where}`;
    const message = `The scheduler already has a dashboard${place}; close() it first`;
    return new DashboardError('ERR_DASHBOARD_SERVED', message);
  }
}

export interface DashboardOptions {
  /** The port to listen on; 0 for any free port. Default 7373. */
  port?: number;
  /** The address to listen on. A host other than loopback needs a token. Default '127.0.0.1'. */
  host?: string;
  /** Durable timers, of which the page is to show counts as well. Default: none. */
  durable?: DurableStatsSource;
  /** A secret that every request must carry: 16 to 256 letters, digits, '-' and '_'. Default: none. */
  token?: string;
}

/** @internal */
export interface ResolvedDashboardOptions {
  readonly port: number;
  readonly host: string;
  readonly token: string | undefined;
  /** Reads the counts of the durable timers. */
  readonly durable: (() => Promise<DurableStats>) | undefined;
}

const DEFAULT_PORT = 7373;

/**
 * Whether Node's permission model denies a server its port, which Node throws where nobody can catch it. Older Nodes
 * restrict no network, and know no such permission. @internal
 */
export function isListeningDenied(): boolean {
  const { allowedNodeEnvironmentFlags, permission } = process as Partial<NodeJS.Process>;
  return permission?.has('net') === false && allowedNodeEnvironmentFlags?.has('--allow-net') === true;
}

/** The names by which a browser on this machine may reach it. @internal */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host === '::1' ||
  host === '[::1]' ||
  (process.getBuiltinModule('node:net').isIP(host) === 4 && host.startsWith('127.'));

/** Throws InvalidArgumentError, InvalidConfigError. @internal */
export function resolveDashboardOptions(options: DashboardOptions = {}): ResolvedDashboardOptions {
  requireOptions(options, { port: 0, host: 0, token: 0, durable: 0 } satisfies Record<keyof DashboardOptions, 0>);
  const { port = DEFAULT_PORT, host = '127.0.0.1', token, durable } = options;
  requireInteger('options.port', port, 0, 65_535);
  if (typeof host !== 'string' || host === '') {
    throw new InvalidConfigError('options.host', "must be a host's name or address", host);
  }
  // The alphabet of base64url: it needs no escaping in URLs and cookies.
  if (token !== undefined && !(typeof token === 'string' && /^[\w-]{16,256}$/.test(token))) {
    const shown = typeof token === 'string' ? `one of ${token.length} characters` : token;
    throw new InvalidConfigError('options.token', "must be 16 to 256 letters, digits, '-' and '_'", shown);
  }
  if (token === undefined && !isLoopback(host)) {
    const requirement = 'must be a loopback address (127.0.0.1, ::1, localhost) unless options.token is given';
    throw new InvalidConfigError('options.host', requirement, host);
  }
  const stats = statsSourceOf(durable);
  if (durable !== undefined && stats === undefined) {
    throw new InvalidArgumentError('options.durable', 'must be durable timers', durable);
  }
  return { port, host, token, durable: stats };
}
