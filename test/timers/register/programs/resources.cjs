// What process.getActiveResourcesInfo lists while timers live, of those names that a program asks for timers.
const { setTimeout: sleep } = require('timers/promises');
const set = [];
const immediates = [];
const seen = {};
const look = (when) => {
  const found = process.getActiveResourcesInfo();
  seen[when] = ['Timeout', 'Immediate'].map((type) => found.filter((name) => name === type).length);
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
    await new Promise((resolve) => {
      let calls = 0;
      const timeout = setTimeout(() => {
        look('in a callback');
        clearTimeout(timeout);
        look('in a callback, cleared');
        const interval = setInterval(() => {
          calls += 1;
          look(`in call ${calls}`);
          if (calls < 2) return;
          clearInterval(interval);
          look('in the last call');
          resolve();
        }, 1);
      }, 1);
    });
    for (let i = 0; i < 3; i++) immediates.push(setImmediate(() => undefined));
    look('immediates');
    for (const one of immediates) clearImmediate(one);
    for (const one of set) clearTimeout(one);
    look('all cleared');
    await new Promise((resolve) => setImmediate(resolve));
    process.stdout.write(JSON.stringify(seen));
  });
});
