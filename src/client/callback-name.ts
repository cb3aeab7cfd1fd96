/** The name of a callback, '' where it has none that can be had; undefined of what is no callback. Never throws. */
export function callbackName(callback: unknown): string | undefined {
  if (typeof callback !== 'function') return undefined;
  try {
    const name: unknown = callback.name;
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // the program's own getter has thrown
  }
}
