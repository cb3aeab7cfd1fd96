// Writes docs/api.md from the docstrings. With --check: says whether it is as it would be written, and writes nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Application, ReflectionKind } from 'typedoc';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = `${root}docs/api.md`;

const entries = [
  ['shardwheel', 'index', 'The scheduler.'],
  [
    'shardwheel/wheel',
    'wheel',
    'The wheels alone, for one thread: [guide.md](guide.md#wheels-alone) says which to choose.',
  ],
  [
    'shardwheel/timers',
    'timers',
    'The drop-in timers: [drop-in.md](drop-in.md) lists every difference from `node:timers`.',
  ],
  ['shardwheel/timers/promises', 'timers-promises', 'The drop-in `node:timers/promises`.'],
  [
    'shardwheel/register',
    'register',
    '`node --import shardwheel/register` puts the drop-in timers in place of Node’s.',
  ],
  ['shardwheel/prometheus', 'prometheus', 'Metrics for prom-client: [operate.md](operate.md).'],
  ['shardwheel/opentelemetry', 'opentelemetry', 'Metrics for OpenTelemetry: [operate.md](operate.md).'],
  ['shardwheel/dashboard', 'dashboard', 'A live page: [dashboard.md](dashboard.md).'],
  ['shardwheel/durable', 'durable', 'Timers that outlive the process: [durable.md](durable.md).'],
  ['shardwheel/profile', 'profile', 'Records what Node’s own timers cost: [decide.md](decide.md#profile-a-program).'],
];

/** It has no calls: a bundler makes a file of it, whose address is the option `workerUrl`. */
const worker = [
  '## shardwheel/worker',
  'The file that the shards’ threads run. It exports nothing. Where the package’s own files are not beside the program, a bundler\nmakes a file of it, and the option `workerUrl` names that: [install.md](install.md#bundlers).',
];

const app = await Application.bootstrap({
  entryPoints: entries.map(([, file]) => `${root}src/entries/${file}.ts`),
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

/** Every heading there is, so that a link to a name finds it. */
const headings = new Map();
const anchorOf = (name) => name.toLowerCase().replace(/[^\w-]/g, '');

// What is said of a thing.

/** Whose text is being written: a link to `schedule` means the call of that class, or else of the scheduler. */
let owner = '';

const linked = (part) => {
  if (part.kind !== 'inline-tag') return part.text;
  const name = part.text.trim();
  const anchor = [name, `${owner}.${name}`, `Scheduler.${name}`].map((each) => headings.get(each)).find(Boolean);
  return anchor === undefined ? `\`${name}\`` : `[\`${name}\`](#${anchor})`;
};
/** A document that a docstring names is a link, as api.md lies beside it. */
const toDocuments = (text) => text.replace(/(?<![\w/`])docs\/([\w-]+\.md)/g, '[$1]($1)');
const textOf = (parts) => toDocuments(drawn((parts ?? []).map(linked).join('').trim()));
const summaryOf = (comment) => textOf(comment?.summary);

/** Drawings, whose lines are indented in the docstring, are kept as they are drawn. */
function drawn(text) {
  const parts = text.split('\n\n').reduce((all, part) => {
    const isDrawing = part.split('\n').every((line) => /^ {2}/.test(line));
    const last = all.at(-1);
    if (isDrawing && last?.isDrawing) last.text += `\n\n${part}`;
    else all.push({ isDrawing, text: part });
    return all;
  }, []);
  return parts.map(({ isDrawing, text }) => (isDrawing ? `\`\`\`text\n${text}\n\`\`\`` : text)).join('\n\n');
}

/** The sentences that state errors, wherever they stand in a docstring, and the others. */
function errorsIn(text) {
  if (text.includes('```')) return { rest: text, errors: '' };
  const sentences = text.split(/(?<=[.:])(?= (?:Throws|Rejects with|Never throws)\b)|(?<=\.)(?=\s+[A-Z])/);
  const states = (sentence) => /^\s*(?:Throws|Rejects with|Never throws)\b/.test(sentence);
  const errors = sentences.filter(states).map((sentence) =>
    oneLine(sentence.trim())
      .replace(/^(?:Throws|Rejects with) /, '')
      .replace(/^Never throws/, 'nothing'),
  );
  return {
    rest: sentences
      .filter((sentence) => !states(sentence))
      .join('')
      .trim(),
    errors: errors.join(' '),
  };
}

const tagOf = (comment, tag) => textOf(comment?.blockTags.find((block) => block.tag === tag)?.content);
const oneLine = (text) => text.replace(/\s*\n\s*/g, ' ').replace(/\|/g, '\\|');

function described(comment, whenNone = '') {
  const { rest, errors } = errorsIn(summaryOf(comment));
  const throws = [tagOf(comment, '@throws'), errors].filter((part) => part !== '').join(' ') || whenNone;
  const cost = tagOf(comment, '@cost');
  const examples = (comment?.blockTags ?? [])
    .filter(({ tag }) => tag === '@example')
    .map(({ content }) => textOf(content));
  const lines = [rest, throws && `**Throws** ${throws}`, cost && `**Cost** ${cost}`, ...examples];
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

/** 'Default 5.' or 'Default: …' is a sentence of every docstring of an option; the table has it in a column of its own. */
const DEFAULT = /(?:^|(?<=[.;:]) )Defaults?:? ((?:[^.;]|\.(?=\d))+)([.;])/;

function splitDefault(text, name) {
  const found = DEFAULT.exec(text);
  if (found === null) throw new Error(`the docstring of the option ${name} states no default`);
  const [sentence, value, end] = found;
  const [short, reason] = value.startsWith('{') ? [value] : value.split(/: (.*)/s);
  const isAll = end === '.' && reason === undefined;
  return { value: short, text: isAll ? text.replace(sentence, '').trim() : text };
}

function propertyTable({ name: type, children }, properties) {
  const isOptions = /(Options|Config)$/.test(type) && children.some(({ flags }) => flags.isOptional);
  const heads = isOptions ? ['option', 'type', 'default', ''] : ['', 'type', ''];
  const rows = properties.map((property) => {
    const text = oneLine(summaryOf(commentOf(property)));
    const name = `\`${property.name}${property.flags.isOptional && !isOptions ? '?' : ''}\``;
    const cells = [name, `\`${oneLine(memberType(property))}\``];
    if (!isOptions) return [...cells, text];
    if (!property.flags.isOptional) return [...cells, 'required', text];
    const split = splitDefault(text, `${type}.${property.name}`);
    return [...cells, split.value, split.text];
  });
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Calls of a scheduler that go on after `close()`: a test calls them all. */
const AFTER_CLOSE = ['Scheduler.stats', 'Scheduler.close'];

function methods(type, members) {
  return members.map((method) => {
    const { comment } = method.signatures[0];
    const name = method.name === 'constructor' ? `new ${type.name}` : method.name;
    const calls = method.signatures.map((signature) => callOf(signature, name));
    const full = `${type.name}.${name}`;
    const whenNone = type.name !== 'Scheduler' ? '' : AFTER_CLOSE.includes(full) ? 'nothing.' : 'SchedulerClosedError.';
    return `#### ${full}\n\n${code(calls)}\n\n${described(comment, whenNone)}`;
  });
}

/** What an interface says that this file has already, and a constructor that is not for users. */
function isSaidElsewhere(member, said) {
  if (member.name === 'constructor') {
    const text = summaryOf(member.signatures[0].comment);
    return text === '' || text.startsWith('Use ');
  }
  if (isMethod(member) && summaryOf(member.signatures[0].comment).startsWith('Called by the index')) return true;
  return member.implementationOf !== undefined || said.has(member.name);
}

/** The interface whose members a class repeats, though the class that declares that is not exported. */
const REPEATED = { CascadingWheel: 'TimingWheel', PinnedWheel: 'TimingWheel', DebugWheel: 'TimingWheel' };

/** Node's own fields for the list of timers, which a program has no use for. */
const isNodes = ({ name }) => name.startsWith('_');

const firstSentence = (text) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;

function overview(type, called) {
  const rows = called.map((method) => {
    const names = method.name === 'constructor' ? `new ${type.name}` : method.name;
    const text = oneLine(firstSentence(errorsIn(summaryOf(method.signatures[0].comment)).rest));
    return `| [\`${names}\`](#${anchorOf(`${type.name}${names.replace(' ', '-')}`)}) | ${text} |`;
  });
  return ['| call | |', '|---|---|', ...rows].join('\n');
}

function classOrInterface(reflection) {
  const { name } = reflection;
  owner = name;
  const repeated = REPEATED[name];
  const said = new Set(repeated === undefined ? [] : everything.get(repeated).children.map((member) => member.name));
  const members = (reflection.children ?? []).filter((member) => !isSymbol(member) && !isNodes(member));
  const shown = members.filter((member) => !isSaidElsewhere(member, said));
  const called = shown.filter(isMethod);
  const properties = shown.filter((member) => !isMethod(member));
  const parts = [`### ${name}`, described(reflection.comment)];
  const implemented = (reflection.implementedTypes ?? []).map((type) => type.name);
  const interfaces = new Set([...implemented, ...(repeated === undefined ? [] : [repeated])]);
  interfaces.delete(name); // Node's class of this name
  const known = [...interfaces]
    .filter((each) => headings.has(each))
    .map((each) => `[\`${each}\`](#${headings.get(each)})`);
  if (known.length > 0) parts.push(`All of ${known.join(', ')}${shown.length === 0 ? '.' : ', and:'}`);
  if (called.length > 6) parts.push(overview(reflection, called));
  if (properties.length > 0) parts.push(propertyTable(reflection, properties));
  return [...parts, ...methods(reflection, called)];
}

const aliasOf = (reflection) => {
  owner = '';
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

/** What is called as in Node needs no text of its own. */
function variablesOf(variables) {
  const isNodes = (each) => each.name !== 'default' && summaryOf(commentOf(each)) === '';
  const nodes = variables.filter(isNodes).map(({ name }) => `\`${name}\``);
  const others = variables.filter((each) => !isNodes(each) && each.name !== 'default').flatMap(variableOf);
  if (nodes.length === 0) return others;
  const text = `${nodes.join(', ')}: parameters, results and errors are those of Node's. The default export has all of them.`;
  return [...others, '### Functions of Node', text];
}

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
    ...variablesOf(rest(ReflectionKind.Variable)),
    ...(errors.length === 0 ? [] : ['### Errors', errorTable(errors)]),
    ...(again.length === 0 ? [] : [`Also exported here, as above: ${again.join(', ')}.`]),
  ];
}

const modules = entries.map(([name, file, about]) => {
  const module = project.children.find((child) => child.name === file);
  if (module === undefined) throw new Error(`typedoc has not found ${file}.ts`);
  return { name, about, module };
});
/** Every class and interface, by its name. */
const everything = new Map();
for (const { module } of modules) {
  for (const each of (module.children ?? []).filter(({ variant }) => variant === 'declaration')) {
    if (headings.has(each.name)) continue;
    everything.set(each.name, each);
    headings.set(each.name, anchorOf(each.name));
    for (const member of (each.children ?? []).filter(isMethod)) {
      headings.set(`${each.name}.${member.name}`, anchorOf(`${each.name}${member.name}`));
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
  'Times are milliseconds, and deadlines count on the clock of `scheduler.now()`, unless a text says otherwise. Every error has a `code`;\n[operate.md](operate.md#codes) lists all codes. After `close()` a call of a scheduler throws `SchedulerClosedError`, or\nrejects with it, but for `close`, `stats` and `size`. All defaults of the scheduler: [SchedulerOptions](#scheduleroptions). How many shards:\n[decide.md](decide.md).\n\nA call whose errors are not stated throws none of its own; one that “works like” another throws like it.',
  [...contents, '- [`shardwheel/worker`](#shardwheelworker)'].join('\n'),
  ...modules.flatMap(({ name, about, module }) => [`## ${name}`, about, ...partsOf(module)]),
  ...worker,
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
