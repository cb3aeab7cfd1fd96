import { show } from '../errors.ts';

/** The metrics of a scheduler, or of durable timers, cannot be registered: `code` has the reason. None of them is registered. */
export class MetricsError extends Error {
  readonly code: 'ERR_METRICS_REGISTERED' | 'ERR_METRICS_REFUSED';
  override readonly name = 'MetricsError';

  constructor(code: MetricsError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static twice(where: string, what: string): MetricsError {
    return new MetricsError('ERR_METRICS_REGISTERED', `The metrics of the ${what} are in this ${where} already`);
  }

  static sameName(where: string, kind: string, name: string | undefined): MetricsError {
    const what = name === undefined ? 'without options.name' : `with options.name ${show(name)}`;
    const why = `The metrics of another ${kind} are in this ${where} ${what}`;
    return new MetricsError('ERR_METRICS_REGISTERED', `${why}; options.name distinguishes them, as a label`);
  }

  static refused(where: string, cause: unknown): MetricsError {
    const why = cause instanceof Error ? cause.message : show(cause);
    return new MetricsError('ERR_METRICS_REFUSED', `The ${where} has refused the metrics (${why})`, {
      cause,
    });
  }
}
