/** A property that holds one of ours while the profile records: with the flags that Node's had. */
export class Place {
  private readonly target: object;
  private readonly key: PropertyKey;
  private readonly ours: unknown;
  private before: PropertyDescriptor | undefined;

  constructor(target: object, key: PropertyKey, ours: unknown) {
    this.target = target;
    this.key = key;
    this.ours = ours;
  }

  take(): void {
    const found = Object.getOwnPropertyDescriptor(this.target, this.key);
    if (found === undefined) return;
    const { enumerable } = found;
    const placed = { value: this.ours, writable: true, enumerable, configurable: true };
    if (Reflect.defineProperty(this.target, this.key, placed)) this.before = found;
  }

  /** Unless somebody has put something of theirs here since. */
  giveBack(): void {
    const found = Object.getOwnPropertyDescriptor(this.target, this.key);
    if (found?.value !== this.ours || this.before === undefined) return;
    Object.defineProperty(this.target, this.key, this.before);
    this.before = undefined;
  }
}

export const placesIn = (target: object, ours: object): Place[] =>
  Reflect.ownKeys(ours).map((key) => new Place(target, key, Reflect.get(ours, key)));
