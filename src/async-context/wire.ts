import type { Callback } from './context-keeper.ts';

/**
 * Replaces Node's methods by functions made from their present values, which may already be another package's. Returns
 * false, and replaces none, if the program has frozen Node's objects.
 */
export function wire(methods: object, makers: Record<string, (original: Callback) => Callback>): boolean {
  const names = Object.keys(makers);
  const canReplace = (name: string): boolean => {
    const own = Object.getOwnPropertyDescriptor(methods, name);
    return own === undefined ? Object.isExtensible(methods) : own.configurable === true;
  };
  if (!names.every(canReplace)) return false;
  for (const name of names) {
    const value = makers[name](Reflect.get(methods, name));
    Object.defineProperty(methods, name, { value, writable: true, enumerable: false, configurable: true });
  }
  return true;
}
