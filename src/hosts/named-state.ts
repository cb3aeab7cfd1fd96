/** A state with a name, and the table of which may follow which. */
export class NamedState<Name extends string> {
  private name: Name;
  private readonly next: Readonly<Record<Name, readonly Name[]>>;
  private waiting: (() => void)[] = [];

  constructor(name: Name, next: Readonly<Record<Name, readonly Name[]>>) {
    this.name = name;
    this.next = next;
  }

  is(...names: readonly Name[]): boolean {
    return names.includes(this.name);
  }

  enter(name: Name): void {
    if (!this.next[this.name].includes(name)) throw new Error(`'${name}' cannot follow '${this.name}'`);
    this.name = name;
    this.tell();
  }

  /** Resolves when the state has changed, or `tell` was called. */
  change(): Promise<void> {
    return new Promise((resolve) => void this.waiting.push(resolve));
  }

  tell(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
