// What is said of a class, an interface, a type, a function or a variable: the parts of a page, each a paragraph of Markdown.
import { current, isTold, linked, linkTo } from './links.mjs';
import { described, errorsIn, firstSentence, oneLine, splitDefault, summaryOf } from './text.mjs';

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
export const isMethod = (member) => member.signatures !== undefined;
const commentOf = (member) => member.comment ?? member.getSignature?.comment ?? member.type?.declaration?.comment;
const memberType = (member) => {
  const signatures = member.type?.declaration?.signatures;
  if (signatures !== undefined)
    return signatures.map((each) => `${parametersOf(each)} => ${typeOf(each.type)}`).join('; ');
  return typeOf(member.type ?? member.getSignature?.type);
};

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
    return [`### ${full}`, code(calls), described(comment, whenNone)].filter((part) => part !== '').join('\n\n');
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
const REPEATED = { CascadingWheel: 'TimingWheel', PinnedWheel: 'TimingWheel' };

/** Node's own fields for the list of timers, which a program has no use for. */
const isNodes = ({ name }) => name.startsWith('_');

function overview(type, called) {
  const rows = called.map((method) => {
    const names = method.name === 'constructor' ? `new ${type.name}` : method.name;
    const text = oneLine(firstSentence(errorsIn(summaryOf(method.signatures[0].comment)).rest));
    return `| ${linkTo(`${type.name}.${names}`, names)} | ${text} |`;
  });
  return ['| call | |', '|---|---|', ...rows].join('\n');
}

export function classOrInterface(reflection) {
  const { name } = reflection;
  const repeated = REPEATED[name];
  const implemented = (reflection.implementedTypes ?? []).map((type) => type.name);
  const interfaces = new Set([...implemented, ...(repeated === undefined ? [] : [repeated])]);
  interfaces.delete(name); // Node's class of this name
  current.owners = [name, ...interfaces];
  const said = new Set(
    repeated === undefined
      ? []
      : reflection.project.getChildByName(['wheel', repeated]).children.map((member) => member.name),
  );
  const members = (reflection.children ?? []).filter((member) => !isSymbol(member) && !isNodes(member));
  const shown = members.filter((member) => !isSaidElsewhere(member, said));
  const called = shown.filter(isMethod);
  const properties = shown.filter((member) => !isMethod(member));
  const parts = [`## ${name}`, described(reflection.comment)];
  const known = [...interfaces].filter(isTold).map(linked);
  if (known.length > 0) parts.push(`All of ${known.join(', ')}${shown.length === 0 ? '.' : ', and:'}`);
  if (called.length > 6) parts.push(overview(reflection, called));
  if (properties.length > 0) parts.push(propertyTable(reflection, properties));
  return [...parts, ...methods(reflection, called)];
}

export const aliasOf = (reflection) => {
  current.owners = [];
  const generic =
    reflection.typeParameters === undefined ? '' : `<${reflection.typeParameters.map(({ name }) => name).join(', ')}>`;
  return [
    `## ${reflection.name}`,
    code([`type ${reflection.name}${generic} = ${typeOf(reflection.type)}`]),
    described(reflection.comment ?? reflection.type?.declaration?.signatures?.[0].comment),
  ];
};

export const functionOf = (reflection) => [
  `## ${reflection.name}`,
  code(reflection.signatures.map((signature) => callOf(signature))),
  described(reflection.signatures[0].comment),
];

const variableOf = (reflection) => {
  const type = memberType(reflection);
  return [`## ${reflection.name}`, code([`const ${reflection.name}: ${type}`]), described(commentOf(reflection))];
};

/** What is called as in Node needs no text of its own. */
export function variablesOf(variables) {
  const isNodes = (each) => each.name !== 'default' && summaryOf(commentOf(each)) === '';
  const nodes = variables.filter(isNodes).map(({ name }) => `\`${name}\``);
  const others = variables.filter((each) => !isNodes(each) && each.name !== 'default').flatMap(variableOf);
  if (nodes.length === 0) return others;
  const text = `${nodes.join(', ')}: parameters, results and errors are those of Node's. The default export has all of them.`;
  return [...others, '## Functions of Node', text];
}

export function errorTable(errors) {
  const rows = errors.map((error) => {
    const code = error.children.find(({ name }) => name === 'code');
    const fields = error.children
      .filter((member) => !isMethod(member) && !isSymbol(member) && !['code', 'name'].includes(member.name))
      .map(({ name }) => `\`${name}\``);
    return `| \`${error.name}\` | ${code === undefined ? '' : `\`${oneLine(typeOf(code.type)).replaceAll('"', '')}\``} | ${fields.join(', ')} | ${oneLine(summaryOf(error.comment))} |`;
  });
  return ['| error | code | has | |', '|---|---|---|---|', ...rows].join('\n');
}
