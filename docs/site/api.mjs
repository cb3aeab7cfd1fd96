// Writes docs/api, a page for each entry point, from the docstrings. With --check: says whether it is as it would be written, and
// writes nothing.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Application, ReflectionKind } from 'typedoc';
import { aliasOf, classOrInterface, errorTable, functionOf, isMethod, variablesOf } from './api/declarations.mjs';
import { entries, worker } from './api/entries.mjs';
import { current, learnAnchors, linkDocuments, linked, place } from './api/links.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}docs/api/`;

const app = await Application.bootstrap({
  entryPoints: entries.map(({ file }) => `${root}src/entries/${file}.ts`),
  tsconfig: `${root}tsconfig.json`,
  blockTags: ['@throws', '@cost', '@defaultValue', '@param', '@returns', '@example'],
  skipErrorChecking: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeInternal: true,
  excludeExternals: true,
  disableSources: true,
  readme: 'none',
  sort: ['source-order'],
  logLevel: 'Error',
});
const project = await app.convert();
if (project === undefined) throw new Error('typedoc has found nothing to document');

/** What is looked for most. */
const FIRST = [
  'createScheduler',
  'SchedulerOptions',
  'Scheduler',
  'SchedulerEvents',
  'FiredBatch',
  'TimerGroup',
  'connectScheduler',
  'SchedulerConnectOptions',
  'createWheel',
  'TimingWheel',
];
const rankOf = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

const isOf =
  (...kinds) =>
  ({ kind }) =>
    kinds.includes(kind);
const isError = ({ kind, name }) => kind === ReflectionKind.Class && name.endsWith('Error');
const isCall = isOf(ReflectionKind.Function, ReflectionKind.Class);

// Which page tells what: each declaration once, whoever exports it.

const exportsOf = ({ file }) => {
  const module = project.children.find(({ name }) => name === file);
  if (module === undefined) throw new Error(`typedoc has not found ${file}.ts`);
  return (module.children ?? [])
    .filter(({ name }) => name !== 'default')
    .map((each) => (each.variant === 'reference' ? each.getTargetReflectionDeep() : each));
};

const tellers = new Map();
for (const entry of entries.flatMap((entry) => entry.tells.map((name) => ({ entry, name })))) {
  const told = exportsOf(entry.entry).find(({ name }) => name === entry.name);
  if (told === undefined) throw new Error(`${entry.entry.name} does not export ${entry.name}`);
  tellers.set(told, entry.entry);
}
for (const entry of entries) {
  for (const each of exportsOf(entry)) if (!tellers.has(each)) tellers.set(each, entry);
}
const toldBy = (entry) =>
  exportsOf(entry)
    .filter((each) => tellers.get(each) === entry)
    .sort((a, b) => rankOf(a) - rankOf(b));

for (const entry of entries) {
  for (const each of toldBy(entry).filter(({ kind }) => kind !== ReflectionKind.Variable)) {
    place(each.name, entry.page, isError(each) ? 'Errors' : each.name);
    for (const member of (each.children ?? []).filter(isMethod)) {
      if (!isError(each)) place(`${each.name}.${member.name}`, entry.page);
    }
  }
}

// The pages.

const mark = '<!-- written by `npm run docs:api` from the docstrings; a test holds it to them -->';

function partsOf(told) {
  const isFirst = (each) => rankOf(each) < FIRST.length;
  const rest = (kind) => told.filter((each) => each.kind === kind && !isError(each) && !isFirst(each));
  const errors = told.filter(isError);
  return [
    ...told
      .filter(isFirst)
      .flatMap((each) => (isOf(ReflectionKind.Function)(each) ? functionOf : classOrInterface)(each)),
    ...rest(ReflectionKind.Function).flatMap(functionOf),
    ...rest(ReflectionKind.Class).flatMap(classOrInterface),
    ...rest(ReflectionKind.Interface).flatMap(classOrInterface),
    ...rest(ReflectionKind.TypeAlias).flatMap(aliasOf),
    ...variablesOf(rest(ReflectionKind.Variable)),
    ...(errors.length === 0 ? [] : ['## Errors', errorTable(errors)]),
  ];
}

function pageOf(entry) {
  Object.assign(current, { page: entry.page, owners: [] });
  const told = toldBy(entry);
  const [calls, types] = [isCall, isOf(ReflectionKind.Interface, ReflectionKind.TypeAlias)].map((isListed) =>
    told.filter((each) => isListed(each) && !isError(each)).map(({ name }) => linked(name)),
  );
  const again = exportsOf(entry).filter((each) => !told.includes(each));
  const lists = [
    ['Calls', calls],
    ['Types', types],
    ['Also exported here', again.map(({ name }) => linked(name))],
  ];
  return [
    `# ${entry.name}`,
    mark,
    `${linkDocuments(entry.about)} [README.md](README.md) says what holds for every entry.`,
    lists
      .filter(([, names]) => names.length > 0)
      .map(([head, names]) => `- **${head}**: ${names.join(', ')}`)
      .join('\n'),
    ...partsOf(told),
  ];
}

function readme() {
  const rows = entries.map(({ name, page, about }) => `| [\`${name}\`](${page}.md) | ${linkDocuments(about)} |`);
  return [
    '# API',
    mark,
    ['| entry | |', '|---|---|', ...rows, `| \`${worker.name}\` | ${linkDocuments(worker.about)} |`].join('\n'),
    'Times are milliseconds, and deadlines count on the clock of `scheduler.now()`, unless a text says otherwise.',
    linkDocuments(
      'Every error has a `code`; docs/operate.md#codes lists all codes. A call whose errors are not stated throws none of its own; one that\n“works like” another throws like it.',
    ),
  ];
}

const textOf = (parts) => `${parts.filter((part) => part !== '').join('\n\n')}\n`;
for (const entry of entries) learnAnchors(entry.page, textOf(pageOf(entry)));
const pages = new Map([
  ['README.md', textOf(readme())],
  ...entries.map((entry) => [`${entry.page}.md`, textOf(pageOf(entry))]),
]);

const there = existsSync(folder) ? readdirSync(folder) : [];
if (process.argv.includes('--check')) {
  const stale = [...new Set([...there, ...pages.keys()])].filter(
    (page) => !there.includes(page) || readFileSync(folder + page, 'utf8') !== pages.get(page),
  );
  const isFresh = stale.length === 0;
  console.log(
    isFresh ? 'docs/api is as the docstrings have it' : `docs/api is stale: run npm run docs:api (${stale.join(', ')})`,
  );
  process.exitCode = isFresh ? 0 : 1;
} else {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [page, text] of pages) writeFileSync(folder + page, text);
  const lines = [...pages.values()].join('').split('\n').length;
  console.log(`written: docs/api, ${pages.size} pages, ${lines} lines`);
}
