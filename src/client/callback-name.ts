/** The name of a callback, '' if it has none or it cannot be read; undefined if it is not a function. Never throws. */
export function callbackName(callback: unknown): string | undefined {
  if (typeof callback !== 'function') return undefined;
  try {
    const name: unknown = callback.name;
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // the program's own getter has thrown
  }
}
