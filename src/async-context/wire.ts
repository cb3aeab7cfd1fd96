import type { Callback } from './context-keeper.ts';

/** Replaces one of Node's methods by a function made from its present value, which may already be another package's. */
export function wire<Name extends string>(
  methods: Record<Name, Callback>,
  name: Name,
  make: (original: Callback) => Callback,
): void {
  const value = make(methods[name]);
  Object.defineProperty(methods, name, { value, writable: true, enumerable: false, configurable: true });
}

/** Whether `wire` can do this: not if the program has frozen Node's objects. */
export function canWire(methods: object, ...names: string[]): boolean {
  return names.every((name) => {
    const own = Object.getOwnPropertyDescriptor(methods, name);
    return own === undefined ? Object.isExtensible(methods) : own.configurable === true;
  });
}
