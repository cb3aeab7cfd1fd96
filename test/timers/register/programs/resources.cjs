// What process.getActiveResourcesInfo lists while timers live, of those names that a program asks for timers.
const { setTimeout: sleep } = require('timers/promises');
const set = [];
const seen = {};
const look = (when) => {
  const found = process.getActiveResourcesInfo();
  seen[when] = found.filter((name) => name === 'Timeout').length;
  seen[`${when}: others`] = found.filter((name) => ['MessagePort', 'Worker'].includes(name));
};
setImmediate(() => {
  // A turn after the start, when what loading has begun is over.
  look('none');
  for (let i = 0; i < 5; i++) set.push(setTimeout(() => undefined, 1e6));
  look('five');
  set.push(setInterval(() => undefined, 1e6));
  look('an interval');
  set[0].unref();
  look('one of them unref');
  clearTimeout(set[1]);
  look('one of them cleared');
  clearTimeout(set[0]);
  look('the unref one cleared, too');
  setImmediate(async () => {
    look('a turn later');
    await Promise.all([sleep(1), sleep(2)]);
    look('after sleeps');
    for (const one of set) clearTimeout(one);
    look('all cleared');
    await new Promise((resolve) => setImmediate(resolve));
    process.stdout.write(JSON.stringify(seen));
  });
});
