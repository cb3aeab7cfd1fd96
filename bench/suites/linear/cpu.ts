/** ns of CPU that the whole process takes for each of `count` things: its threads and the garbage collector included. */
export async function cpuEach(count: number, run: () => unknown): Promise<number> {
  globalThis.gc?.(); // what was thrown away before is none of these things'
  const start = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / count;
}
