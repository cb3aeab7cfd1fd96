import { expect, test } from 'vitest';
import { sourcesIn } from '../fixtures/source-files.ts';

/** All but what browsers run. */
const shipped = sourcesIn('src', 'workers').filter(({ path }) => !/^src\/extras\/\w+\/page\//.test(path));

test("time is read, and timers are set, by Node's own functions: a test may fake those of the program", () => {
  const readers = shipped.filter(({ code }) => /\bperformance\.now\(/.test(code));
  expect(readers.map(({ path }) => path)).toEqual([]);
  const calls = /(?<![.\w#])((?:set|clear)(?:Timeout|Interval|Immediate))\b(?=\(|\)|,)/g;
  // Those have functions of these names.
  const others = shipped.filter(({ path }) => !/^src\/(timers|entries|extras\/profile|time)\//.test(path));
  const strays = others.flatMap(({ path, code, names }) => {
    const called = [...code.matchAll(calls)].map(([, name]) => name);
    const own = names
      .filter((name) => name.startsWith('src/time/native-timers.ts#'))
      .map((name) => name.replace(/.*#/, ''));
    return [...new Set(called)].filter((name) => !own.includes(name)).map((name) => `${path}: ${name}`);
  });
  // a thread of our own, where no test fakes anything
  expect(strays).toEqual(['src/shard/shard-loop.ts: setImmediate']);
  expect(others.length).toBeGreaterThan(200);
});
