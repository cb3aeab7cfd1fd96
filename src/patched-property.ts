/**
 * A property of Node's that a thread replaces with ours: `target[key]`, with the flags that Node's had.
 *
 *     Node's ── take ──▶ ours ── giveBack ──▶ Node's
 *                         │ another package wraps it
 *                         ▼
 *                        theirs, around ours ── take, giveBack ──▶ theirs: ours underneath passes calls on
 */
export class PatchedProperty {
  private readonly target: object;
  private readonly key: PropertyKey;
  private readonly ours: unknown;
  /** The property before ours, while ours is in place. */
  private before: PropertyDescriptor | undefined;

  constructor(target: object, key: PropertyKey, ours: unknown) {
    this.target = target;
    this.key = key;
    this.ours = ours;
  }

  take(): void {
    const found = Object.getOwnPropertyDescriptor(this.target, this.key);
    if (found === undefined || found.value === this.ours) return;
    const isWrapped = this.before !== undefined && found.value !== this.before.value;
    if (isWrapped) return;
    const { enumerable } = found;
    const placed = { value: this.ours, writable: true, enumerable, configurable: true };
    if (Reflect.defineProperty(this.target, this.key, placed)) this.before = found;
  }

  giveBack(): void {
    const found = Object.getOwnPropertyDescriptor(this.target, this.key);
    if (found?.value !== this.ours || this.before === undefined) return;
    Object.defineProperty(this.target, this.key, this.before);
    this.before = undefined;
  }
}

/** Returns the place in `target` of each property of `ours`. */
export const propertiesIn = (target: object, ours: object): PatchedProperty[] =>
  Reflect.ownKeys(ours).map((key) => new PatchedProperty(target, key, Reflect.get(ours, key)));
