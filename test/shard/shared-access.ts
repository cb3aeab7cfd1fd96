/**
 * Calls a visitor before every access to shared memory, so that a test can let the other side run there, or can have
 * the thread die there. Atomic accesses are found by standing in for `Atomics`; plain ones by `watch`ing an array.
 */
let visitor: (() => void) | undefined;

const NAMES = ['load', 'store', 'add', 'and', 'or', 'exchange', 'compareExchange', 'notify'] as const;

/** Something that the other side, or a death, may come before. The visitor is not visited itself. */
export function touch(): void {
  if (visitor === undefined) return;
  const visit = visitor;
  visitor = undefined;
  try {
    visit();
  } finally {
    visitor = visit;
  }
}

/** Stands in for Atomics until the function that it returns is called. */
export function tapAtomics(): () => void {
  const originals = NAMES.map((name) => [name, Atomics[name]] as const);
  for (const [name, original] of originals) {
    const access = original as (...parts: unknown[]) => unknown;
    Object.assign(Atomics, {
      [name]: (...parts: unknown[]) => {
        touch();
        return access(...parts);
      },
    });
  }
  return () => {
    for (const [name, original] of originals) Object.assign(Atomics, { [name]: original });
  };
}

/** Runs `part` with `visit` called before each of its accesses. */
export function visiting(visit: () => void, part: () => void): void {
  visitor = visit;
  try {
    part();
  } finally {
    visitor = undefined;
  }
}

/** Puts something in place of an object's array that tells of each access to an element. */
export function watch(owner: object, field: string): void {
  const array = Reflect.get(owner, field) as Int32Array;
  const watched = new Proxy(array, {
    get(target, key) {
      touch();
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set(target, key, value) {
      touch();
      return Reflect.set(target, key, value);
    },
  });
  Reflect.set(owner, field, watched);
}
