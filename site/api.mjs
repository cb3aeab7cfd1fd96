// Writes docs/api.md from the docstrings. With --check: says whether it is as it would be written, and writes nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Application, ReflectionKind } from 'typedoc';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}docs/api.md`;

const entries = [
  ['shardwheel', 'index', 'The scheduler.'],
  ['shardwheel/wheel', 'wheel', 'The wheels alone, for one thread: [wheels.md](wheels.md) says which to choose.'],
  [
    'shardwheel/timers',
    'timers',
    'The drop-in timers: [timers.md](timers.md) lists every difference from `node:timers`.',
  ],
  ['shardwheel/timers/promises', 'timers-promises', 'The drop-in `node:timers/promises`.'],
  [
    'shardwheel/register',
    'register',
    '`node --import shardwheel/register` puts the drop-in timers in place of Node’s.',
  ],
  ['shardwheel/prometheus', 'prometheus', 'Metrics for prom-client: [metrics.md](metrics.md).'],
  ['shardwheel/opentelemetry', 'opentelemetry', 'Metrics for OpenTelemetry: [metrics.md](metrics.md).'],
  ['shardwheel/dashboard', 'dashboard', 'A live page: [dashboard.md](dashboard.md).'],
  ['shardwheel/profile', 'profile', 'Records what Node’s own timers cost: [profile.md](profile.md).'],
];

const app = await Application.bootstrap({
  entryPoints: entries.map(([, file]) => `${root}src/${file}.ts`),
  tsconfig: `${root}tsconfig.json`,
  blockTags: ['@throws', '@cost', '@defaultValue', '@param', '@returns', '@example'],
  skipErrorChecking: true,
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  disableSources: true,
  readme: 'none',
  sort: ['source-order'],
  logLevel: 'Error',
});
const project = await app.convert();
if (project === undefined) throw new Error('typedoc has found nothing to document');

/** Every heading there is, so that a link to a name finds it. */
const headings = new Map();
const anchorOf = (name) => name.toLowerCase().replace(/[^\w-]/g, '');

// What is said of a thing.

const linked = (part) => {
  if (part.kind !== 'inline-tag') return part.text;
  const name = part.text.replace(/^Scheduler\./, '');
  const anchor = headings.get(name);
  return anchor === undefined ? `\`${name}\`` : `[\`${name}\`](#${anchor})`;
};
const textOf = (parts) => (parts ?? []).map(linked).join('').trim();
const summaryOf = (comment) => textOf(comment?.summary);
const tagOf = (comment, tag) => textOf(comment?.blockTags.find((block) => block.tag === tag)?.content);
const oneLine = (text) => text.replace(/\s*\n\s*/g, ' ').replace(/\|/g, '\\|');

function described(comment) {
  const lines = [summaryOf(comment)];
  const [throws, cost] = [tagOf(comment, '@throws'), tagOf(comment, '@cost')];
  if (throws !== '') lines.push(`**Throws** ${throws}`);
  if (cost !== '') lines.push(`**Cost** ${cost}`);
  return lines.filter((line) => line !== '').join('\n\n');
}

// How it is called.

const typeOf = (type) => type?.toString() ?? 'unknown';
const parameterOf = ({ name, type, flags, defaultValue }) =>
  `${flags.isRest ? '...' : ''}${name === '__namedParameters' ? 'parts' : name}${flags.isOptional || defaultValue !== undefined ? '?' : ''}: ${typeOf(type)}`;
const parametersOf = ({ typeParameters, parameters }) => {
  const generic = typeParameters === undefined ? '' : `<${typeParameters.map(({ name }) => name).join(', ')}>`;
  return `${generic}(${(parameters ?? []).map(parameterOf).join(', ')})`;
};
const callOf = (signature, name = signature.name) => `${name}${parametersOf(signature)}: ${typeOf(signature.type)}`;
const code = (lines) => `\`\`\`ts\n${lines.join('\n')}\n\`\`\``;

// Members of classes and interfaces.

const isSymbol = ({ name }) => name.startsWith('[');
const isMethod = (member) => member.signatures !== undefined;
const commentOf = (member) => member.comment ?? member.getSignature?.comment ?? member.type?.declaration?.comment;
const memberType = (member) => {
  const signatures = member.type?.declaration?.signatures;
  if (signatures !== undefined)
    return signatures.map((each) => `${parametersOf(each)} => ${typeOf(each.type)}`).join('; ');
  return typeOf(member.type ?? member.getSignature?.type);
};

/** 'Default …' is a sentence of the docstring. */
function defaultOf(text) {
  const found = /(?:^|[.\s])(?:By default|Default:?|The default is)\s+([^.]*(?:\.\d[^.]*)*)/.exec(text);
  return found === null ? '' : found[1].trim();
}

function propertyTable(properties, hasDefaults) {
  const heads = hasDefaults ? ['option', 'type', 'default', ''] : ['', 'type', ''];
  const rows = properties.map((property) => {
    const text = oneLine(summaryOf(commentOf(property)));
    const name = `\`${property.name}${property.flags.isOptional && !hasDefaults ? '?' : ''}\``;
    const type = `\`${oneLine(memberType(property))}\``;
    return hasDefaults ? [name, type, oneLine(defaultOf(text)) || 'none', text] : [name, type, text];
  });
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function methods(owner, members) {
  return members.map((method) => {
    const { comment } = method.signatures[0];
    const name = method.name === 'constructor' ? `new ${owner.name}` : method.name;
    const calls = method.signatures.map((signature) => callOf(signature, name));
    return `#### ${owner.name}.${name}\n\n${code(calls)}\n\n${described(comment)}`;
  });
}

/** A constructor that is not for users, and what an interface says already. */
function isSaidElsewhere(member) {
  if (member.name !== 'constructor') return member.implementationOf !== undefined;
  const text = summaryOf(member.signatures[0].comment);
  return text === '' || text.startsWith('Use ');
}

const firstSentence = (text) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;

function overview(owner, called) {
  const rows = called.map((method) => {
    const names = method.name === 'constructor' ? `new ${owner.name}` : method.name;
    const text = oneLine(firstSentence(summaryOf(method.signatures[0].comment)));
    return `| [\`${names}\`](#${anchorOf(`${owner.name}${names.replace(' ', '-')}`)}) | ${text} |`;
  });
  return ['| call | |', '|---|---|', ...rows].join('\n');
}

function classOrInterface(reflection) {
  const members = (reflection.children ?? []).filter((member) => !isSymbol(member));
  const called = members.filter((member) => isMethod(member) && !isSaidElsewhere(member));
  const properties = members.filter((member) => !isMethod(member) && member.implementationOf === undefined);
  const parts = [`### ${reflection.name}`, described(reflection.comment)];
  const interfaces = (reflection.implementedTypes ?? []).map(
    ({ name }) => headings.has(name) && `[\`${name}\`](#${headings.get(name)})`,
  );
  if (interfaces.some(Boolean)) parts.push(`All of ${interfaces.filter(Boolean).join(', ')}, and:`);
  if (called.length > 6) parts.push(overview(reflection, called));
  if (properties.length > 0) parts.push(propertyTable(properties, /Options$/.test(reflection.name)));
  return [...parts, ...methods(reflection, called)];
}

const aliasOf = (reflection) => {
  const generic =
    reflection.typeParameters === undefined ? '' : `<${reflection.typeParameters.map(({ name }) => name).join(', ')}>`;
  return [
    `### ${reflection.name}`,
    code([`type ${reflection.name}${generic} = ${typeOf(reflection.type)}`]),
    described(reflection.comment ?? reflection.type?.declaration?.signatures?.[0].comment),
  ];
};

const functionOf = (reflection) => [
  `### ${reflection.name}`,
  code(reflection.signatures.map((signature) => callOf(signature))),
  described(reflection.signatures[0].comment),
];

const variableOf = (reflection) => {
  const type = memberType(reflection);
  return [`### ${reflection.name}`, code([`const ${reflection.name}: ${type}`]), described(commentOf(reflection))];
};

function errorTable(errors) {
  const rows = errors.map((error) => {
    const code = error.children.find(({ name }) => name === 'code');
    const fields = error.children
      .filter((member) => !isMethod(member) && !isSymbol(member) && !['code', 'name'].includes(member.name))
      .map(({ name }) => `\`${name}\``);
    return `| \`${error.name}\` | ${code === undefined ? '' : `\`${oneLine(typeOf(code.type)).replaceAll('"', '')}\``} | ${fields.join(', ')} | ${oneLine(summaryOf(error.comment))} |`;
  });
  return ['| error | code | has | |', '|---|---|---|---|', ...rows].join('\n');
}

// The document.

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

const isError = ({ kind, name }) => kind === ReflectionKind.Class && name.endsWith('Error');

function partsOf(module) {
  const all = module.children ?? [];
  const own = all.filter(({ variant }) => variant === 'declaration').sort((a, b) => rankOf(a) - rankOf(b));
  const of = (kind) => own.filter((each) => each.kind === kind && !isError(each));
  const again = all.filter(({ variant }) => variant === 'reference').map(({ name }) => `\`${name}\``);
  const errors = own.filter(isError);
  const first = own.filter((each) => rankOf(each) < FIRST.length);
  const rest = (kind) => of(kind).filter((each) => !first.includes(each));
  return [
    ...first.flatMap((each) => (each.kind === ReflectionKind.Function ? functionOf(each) : classOrInterface(each))),
    ...rest(ReflectionKind.Function).flatMap(functionOf),
    ...rest(ReflectionKind.Class).flatMap(classOrInterface),
    ...rest(ReflectionKind.Interface).flatMap(classOrInterface),
    ...rest(ReflectionKind.TypeAlias).flatMap(aliasOf),
    ...rest(ReflectionKind.Variable).flatMap(variableOf),
    ...(errors.length === 0 ? [] : ['### Errors', errorTable(errors)]),
    ...(again.length === 0 ? [] : [`Also exported here, as above: ${again.join(', ')}.`]),
  ];
}

const modules = entries.map(([name, file, about]) => {
  const module = project.children.find((child) => child.name === file);
  if (module === undefined) throw new Error(`typedoc has not found ${file}.ts`);
  return { name, about, module };
});
for (const { module } of modules) {
  for (const each of module.children ?? []) {
    headings.set(each.name, anchorOf(each.name));
    for (const member of each.children ?? []) {
      if (isMethod(member) && !headings.has(member.name))
        headings.set(member.name, anchorOf(`${each.name}${member.name}`));
    }
  }
}

const contents = modules.map(({ name, module }) => {
  const names = (module.children ?? []).filter((each) => each.variant === 'declaration' && !isError(each));
  const calls = names.filter(({ kind }) => kind === ReflectionKind.Function || kind === ReflectionKind.Class);
  return `- [\`${name}\`](#${anchorOf(name)})${calls.length === 0 ? '' : `: ${calls.map((each) => `[${each.name}](#${anchorOf(each.name)})`).join(', ')}`}`;
});

const written = [
  '# API',
  '<!-- written by `npm run docs:api` from the docstrings; a test holds it to them -->',
  'Times are milliseconds, and deadlines count on the clock of `scheduler.now()`, unless a text says otherwise. Every error has a `code`;\n[troubleshooting.md](troubleshooting.md) lists all codes. After `close()` a call of a scheduler throws `SchedulerClosedError`, but\nfor `close`, `stats`, `wheels` and `size`.',
  contents.join('\n'),
  ...modules.flatMap(({ name, about, module }) => [`## ${name}`, about, ...partsOf(module)]),
]
  .filter((part) => part !== '')
  .join('\n\n');

const text = `${written}\n`;
if (process.argv.includes('--check')) {
  const isFresh = readFileSync(target, 'utf8') === text;
  console.log(isFresh ? 'docs/api.md is as the docstrings have it' : 'docs/api.md is stale: run npm run docs:api');
  process.exitCode = isFresh ? 0 : 1;
} else {
  writeFileSync(target, text);
  console.log(`written: docs/api.md, ${text.split('\n').length} lines`);
}
