/** Keeps the event loop busy for so many ms. */
export function busyWait(milliseconds) {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
