// Uses a core for so many seconds, or until its parent is gone: node busy.mjs <seconds>
const parent = process.ppid;
const end = performance.now() + Number(process.argv[2]) * 1000;
while (performance.now() < end && process.ppid === parent) {
  for (const slice = performance.now() + 100; performance.now() < slice; );
}
