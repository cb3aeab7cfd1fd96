/**
 * The method that `util.inspect` calls of an object, as Node documents it for code that does not import `node:util`.
 */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;

/**
 * Returns what `util.inspect` shows of a public object: these fields, under the name of its class. The object's method
 * `[INSPECT]` returns it. Node then formats the fields in the same call, so depth, colours and circles work as usual.
 */
export function shownAs(object: object, fields: object): object {
  const { name } = object.constructor;
  const Shown = { [name]: class {} }[name];
  return Object.assign(new Shown(), fields);
}

/** Hides the object's present fields from code that lists, compares, prints or clones it. */
export function hideFields(object: object): void {
  for (const key of Reflect.ownKeys(object)) Object.defineProperty(object, key, { enumerable: false });
}
