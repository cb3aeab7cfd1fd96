/**
 * A script that writes, when its process ends, ms of CPU that it has taken and MB that are resident. It loads nothing
 * for it.
 */
export const reportAtExit = `process.once('exit', () => {
  const { user, system } = process.cpuUsage();
  const figures = { cpu: (user + system) / 1e3, memory: process.memoryUsage().rss / 1e6 };
  require('node:fs').writeSync(1, JSON.stringify(figures));
});`;
