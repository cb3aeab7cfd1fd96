import type { HostState } from '../sharing/board.ts';

/** What serves a shard, for the clients of other threads, once there may be some. */
export class ServerNotice {
  private state: HostState = { by: 'nothing' };
  private publish: ((state: HostState) => void) | undefined;

  set(state: HostState): void {
    this.state = state;
    this.publish?.(state);
  }

  /** From here on `publish` is told, of how it stands now to begin with. */
  publishTo(publish: (state: HostState) => void): void {
    this.publish = publish;
    publish(this.state);
  }
}
