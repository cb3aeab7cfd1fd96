// What the timers of a face do in corners that differ between releases of Node: refused handles, handles that have
// ended, domains. The argument names the face; it prints a line of JSON.
const [name] = process.argv.slice(2);
const faces = {
  node: async () => (await import('node:timers')).default,
  'drop-in': async () => (await import('shardwheel/timers')).default,
  registered: async () => globalThis,
};
const face = await faces[name]();
const seen = {};
const note = (what, act) => {
  try {
    seen[what] = String(act());
  } catch (error) {
    seen[what] = `${error.name} ${error.code} ${error.message}`;
  }
};

const handles = {
  bigint: 10n,
  symbol: Symbol('x'),
  text: 'x',
  digits: '10',
  NaN: Number.NaN,
  object: {},
  null: null,
  undefined,
  true: true,
};
Object.assign(handles, { function: () => undefined, zero: 0, negative: -1, fraction: 0.5, array: [] });
for (const call of ['clearTimeout', 'clearInterval', 'clearImmediate']) {
  for (const [what, handle] of Object.entries(handles)) note(`${call} of ${what}`, () => face[call](handle));
}

const ends = {
  clearTimeout: (handle) => face.clearTimeout(handle),
  clearInterval: (handle) => face.clearInterval(handle),
  close: (handle) => handle.close(),
  dispose: (handle) => handle[Symbol.dispose](),
  'its number': (handle) => face.clearTimeout(+handle),
  'its number as text': (handle) => face.clearTimeout(`${+handle}`),
};
for (const call of ['setTimeout', 'setInterval']) {
  for (const [way, end] of Object.entries(ends)) {
    const handle = face[call](() => undefined, 1000);
    end(handle);
    for (const property of ['_onTimeout', '_idleTimeout', '_destroyed', '_repeat']) {
      note(`${property} of ${call}, ended by ${way}`, () => handle[property]);
    }
    note(`hasRef of ${call}, ended by ${way}`, () => handle.hasRef());
    note(`refresh of ${call}, ended by ${way}`, () => handle.refresh() === handle && handle._destroyed);
  }
}

const domainOf = (handle) =>
  [
    handle.domain === undefined,
    'domain' in handle,
    JSON.stringify(Object.getOwnPropertyDescriptor(handle, 'domain') ?? null, (key, value) =>
      key === 'value' ? 'a domain' : value,
    ),
  ].join(' ');
const setOutside = () => {
  const handle = face.setTimeout(() => undefined, 1000);
  face.clearTimeout(handle);
  return domainOf(handle);
};
note('the domain of a timeout before there is one', setOutside);
const { create } = await import('node:domain');
note('the domain of a timeout outside all', setOutside);
create().run(() => {
  note('the domain of a timeout within one', setOutside);
  const interval = face.setInterval(() => undefined, 1000);
  note('the domain of an interval within one', () => domainOf(interval));
  face.clearInterval(interval);
});
note('the domain of a timeout after one', setOutside);
process.stdout.write(JSON.stringify(seen));
