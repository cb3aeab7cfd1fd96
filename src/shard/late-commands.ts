/** A command whose due tick had passed when it arrived. */
export interface LateCommand {
  readonly slot: number;
  readonly tag: number;
  readonly tick: number;
}

/** The late commands of a round, sorted when all are in: by due tick and, within one, by arrival. */
export class LateCommands {
  private commands: LateCommand[] = [];
  /** The commands before it have been handed over. */
  private next = 0;

  get length(): number {
    return this.commands.length - this.next;
  }

  /** Precondition: length > 0. */
  get first(): LateCommand {
    return this.commands[this.next];
  }

  add(slot: number, tag: number, tick: number): void {
    this.commands.push({ slot, tag, tick });
  }

  /** Called when all commands of the round are in. */
  sort(): void {
    if (this.next > 0) this.commands = this.commands.slice(this.next); // some had no room, and more have arrived
    this.next = 0;
    this.commands.sort((one, other) => one.tick - other.tick);
  }

  /** Drops the first, which has been handed over. */
  drop(): void {
    this.next += 1;
    if (this.next < this.commands.length) return;
    this.commands = [];
    this.next = 0;
  }

  /** The commands that have not been handed over. */
  rest(): readonly LateCommand[] {
    return this.commands.slice(this.next);
  }
}
