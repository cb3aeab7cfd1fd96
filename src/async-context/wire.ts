import type { Callback } from './context-keeper.ts';

/**
 * Puts a function in the place of one of Node's methods, made from the method as it is now: where others have wired it
 * before, that is theirs.
 */
export function wire<Name extends string>(
  methods: Record<Name, Callback>,
  name: Name,
  make: (original: Callback) => Callback,
): void {
  const value = make(methods[name]);
  Object.defineProperty(methods, name, { value, writable: true, enumerable: false, configurable: true });
}

/** Whether `wire` can do so: not where the program has frozen what is Node's. */
export function canWire(methods: object, ...names: string[]): boolean {
  return names.every((name) => {
    const own = Object.getOwnPropertyDescriptor(methods, name);
    return own === undefined ? Object.isExtensible(methods) : own.configurable === true;
  });
}
