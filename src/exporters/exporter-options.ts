import { InvalidArgumentError, InvalidConfigError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';

export interface ExporterOptions {
  /** Tells this scheduler from others in the same place: the label "scheduler" of all of its metrics. Default: no such label. */
  name?: string;
  /**
   * ms that shards are given to answer. Of one that has not, what only it knows is left out; all else is told. From 1 to 60,000.
   * Default 1000.
   */
  timeout?: number;
}

export interface ResolvedExporterOptions {
  readonly name: string | undefined;
  readonly timeout: number;
}

/** Throws InvalidArgumentError, InvalidConfigError. */
export function resolveExporterOptions(options: ExporterOptions = {}): ResolvedExporterOptions {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options', 'must be an object', options);
  }
  refuseUnknown(options, { name: 0, timeout: 0 } satisfies Record<keyof ExporterOptions, 0>);
  const { name, timeout = 1000 } = options;
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new InvalidArgumentError('options.name', 'must be a string that is not empty', name);
  }
  if (typeof timeout !== 'number' || !(timeout >= 1 && timeout <= 60_000)) {
    throw new InvalidConfigError('options.timeout', 'must be a number of ms from 1 to 60000', timeout);
  }
  return { name, timeout };
}
