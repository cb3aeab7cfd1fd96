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

  /** `where`: the address of the other dashboard; undefined while it does not listen yet. */
  static twice(where: string | undefined): DashboardError {
    const message = `The scheduler already has a dashboard${where === undefined ? '' : `, at ${where}`}`;
    return new DashboardError('ERR_DASHBOARD_SERVED', `${message}; close() it first`);
  }
}
