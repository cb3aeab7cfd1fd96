/**
 * A module of this folder, loaded once for each face: its code is compiled for the timers of that face alone, as that
 * of a program is that uses one. Shared, its calls would see two kinds of functions and of timeouts, and be slower for
 * both.
 */
export const ownInstance = <M>(module: string, face: string): Promise<M> =>
  import(new URL(`./${module}${import.meta.url.slice(-3)}?${encodeURIComponent(face)}`, import.meta.url).href);
