import { ShardInlineError } from '../errors.ts';
import { MailLink } from '../hosts/mail-link.ts';
import { ServingRecord } from '../hosts/serving.ts';
import { NOT_YET } from '../hosts/thread-policy.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { FromThread } from '../shard/lane-mail.ts';
import type { Board, ServerState } from '../sharing/board.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import type { ClientThreads } from './served-client.ts';

interface OthersThreadsParts {
  readonly handle: SchedulerHandle;
  readonly board: Board;
  /** The client's number. */
  readonly client: number;
  readonly events: CoordinatorEvents;
}

/** The threads of a scheduler that another thread owns: a link to each, by mail, for as long as there is an owner. */
export class OthersThreads implements ClientThreads {
  readonly serving: ServingRecord;
  readonly isJudged: boolean;
  private readonly parts: OthersThreadsParts;
  private readonly clock: SharedClock;
  /** Why the shards are served as they are, unless a policy decides it. */
  private readonly settings: string;
  /** By host. */
  private readonly links: (MailLink | undefined)[] = [];
  /** How the owner ended, once it has. */
  private ending: string | undefined;

  constructor(parts: OthersThreadsParts) {
    const { handle } = parts;
    this.parts = parts;
    this.isJudged = handle.isAuto;
    this.clock = new SharedClock(handle.clock);
    this.settings = `shards: ${handle.shards}, of another thread's scheduler`;
    this.serving = new ServingRecord('inline', this.isJudged ? NOT_YET : this.settings);
  }

  linkTo({ number }: ShardSetup): MailLink {
    const { board, handle, client } = this.parts;
    const link = new MailLink(
      handle,
      number,
      client,
      () => this.serverOf(number),
      () => board.want(number),
    );
    this.links[number] = link;
    return link;
  }

  private serverOf(host: number): ServerState {
    return this.ending === undefined ? this.parts.board.serverOf(host) : { by: 'clients' };
  }

  /** A thread has answered a call. */
  receive(message: FromThread): void {
    this.links[message.host]?.receive(message);
  }

  mayStart(): boolean {
    return true;
  }

  relocated(isInline: boolean): void {
    if (this.isJudged || this.ending !== undefined) return;
    const by = isInline ? 'inline' : 'threads';
    if (!this.serving.is(by, this.settings)) this.serving.change(by, this.clock.read(), this.settings);
  }

  whyNone(): string {
    return this.ending ?? 'the owner no longer starts threads';
  }

  /**
   * The end of an owner is reported once, for all shards. An owner that never meant to have threads reports nothing.
   */
  stays(host: number): void {
    const { handle, events } = this.parts;
    if (this.ending === undefined && handle.mayHaveThreads) events.wentInline(ShardInlineError.givenUp(host));
  }

  get hasOwner(): boolean {
    return this.ending === undefined;
  }

  /** The owner has ended: from now on each link says that there are no threads. */
  end(how: string): void {
    this.ending = how;
  }

  /** Called when the owner's end has moved every lane here. */
  noteEnd(): void {
    const { handle, events } = this.parts;
    const how = this.whyNone();
    if (!this.serving.is('inline', how)) this.serving.change('inline', this.clock.read(), how);
    if (handle.mayHaveThreads) events.wentInline(ShardInlineError.withoutOwner(how));
  }
}
