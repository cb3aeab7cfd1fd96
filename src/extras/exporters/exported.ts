import { InvalidArgumentError } from '../../errors.ts';
import { requireMilliseconds, requireOptions } from '../../known-options.ts';
import { messageOf } from '../../show.ts';

/**
 * The metrics of a scheduler, or of durable timers, cannot be registered: `code` has the reason. None of them is
 * registered.
 */
export class MetricsError extends Error {
  readonly code: 'ERR_METRICS_REGISTERED' | 'ERR_METRICS_REFUSED';
  override readonly name = 'MetricsError';

  constructor(code: MetricsError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static refused(where: string, cause: unknown): MetricsError {
    const message = `The ${where} has refused the metrics (${messageOf(cause)})`;
    return new MetricsError('ERR_METRICS_REFUSED', message, { cause });
  }
}

/** Throws InvalidArgumentError. @internal */
export function requireMethods(where: string, what: string, value: unknown, names: readonly string[]): void {
  if (!hasMethods(value, names)) throw new InvalidArgumentError(where, `must be a ${what}`, value);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  try {
    const methods = value as Record<string, unknown> | null | undefined;
    return names.every((name) => typeof methods?.[name] === 'function');
  } catch {
    return false; // a getter, or a proxy, of the program
  }
}

export interface ExporterOptions {
  /**
   * Distinguishes this scheduler, or these durable timers, from others in the same place: the label "scheduler", or
   * "durable", of all its metrics. Default: no such label.
   */
  name?: string;
  /**
   * How many ms shards have to answer, from 1 to 60,000. If a shard does not answer in time, the metrics that only it
   * knows are left out; all others are reported. Default 1000.
   */
  timeout?: number;
}

/** Throws InvalidArgumentError, InvalidConfigError. @internal */
export function resolveExporterOptions(options: ExporterOptions = {}) {
  requireOptions(options, { name: 0, timeout: 0 } satisfies Record<keyof ExporterOptions, 0>);
  const { name, timeout = 1000 } = options;
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new InvalidArgumentError('options.name', 'must be a string that is not empty', name);
  }
  return { name, timeout: requireMilliseconds('options.timeout', timeout, 1, 60_000) };
}
