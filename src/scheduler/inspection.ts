/**
 * What `util.inspect` shows of a public object: these fields, under the name of its class. To be returned by its method
 * `[inspect.custom]`: Node then formats the fields in the same call, so that depth, colours and circles are as anywhere else.
 */
export function shownAs(object: object, fields: object): object {
  const { name } = object.constructor;
  const Shown = { [name]: class {} }[name];
  return Object.assign(new Shown(), fields);
}

/** Whoever lists, compares, prints or clones an object does not see the fields that it has now. */
export function hideFields(object: object): void {
  for (const key of Reflect.ownKeys(object)) Object.defineProperty(object, key, { enumerable: false });
}
