import type { HostState } from '../sharing/board.ts';

/** Reports what serves a shard to the clients of other threads, once there may be some. */
export class ServerNotice {
  private state: HostState = { by: 'nothing' };
  private publish: ((state: HostState) => void) | undefined;

  set(state: HostState): void {
    this.state = state;
    this.publish?.(state);
  }

  /** Calls `publish` with the present state now, and with every later one. */
  publishTo(publish: (state: HostState) => void): void {
    this.publish = publish;
    publish(this.state);
  }
}
