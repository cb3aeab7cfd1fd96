// What a docstring says, as Markdown.
import { linkDocuments, linked } from './links.mjs';

const partOf = (part) => (part.kind === 'inline-tag' ? linked(part.text.trim()) : part.text);
const textOf = (parts) => linkDocuments(drawn((parts ?? []).map(partOf).join('').trim()));
export const summaryOf = (comment) => textOf(comment?.summary);

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
export function errorsIn(text) {
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
export const oneLine = (text) => text.replace(/\s*\n\s*/g, ' ').replace(/\|/g, '\\|');

export function described(comment, whenNone = '') {
  const { rest, errors } = errorsIn(summaryOf(comment));
  const throws = [tagOf(comment, '@throws'), errors].filter((part) => part !== '').join(' ') || whenNone;
  const cost = tagOf(comment, '@cost');
  const examples = (comment?.blockTags ?? [])
    .filter(({ tag }) => tag === '@example')
    .map(({ content }) => textOf(content));
  const lines = [rest, throws && `**Throws** ${throws}`, cost && `**Cost** ${cost}`, ...examples];
  return lines.filter((line) => line !== '').join('\n\n');
}

export const firstSentence = (text) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;

/** 'Default 5.' or 'Default: …' is a sentence of every docstring of an option; the table has it in a column of its own. */
const DEFAULT = /(?:^|(?<=[.;:]) )Defaults?:? ((?:[^.;]|\.(?=\d))+)([.;])/;

export function splitDefault(text, name) {
  const found = DEFAULT.exec(text);
  if (found === null) throw new Error(`the docstring of the option ${name} states no default`);
  const [sentence, value, end] = found;
  const [short, reason] = value.startsWith('{') ? [value] : value.split(/: (.*)/s);
  const isAll = end === '.' && reason === undefined;
  return { value: short, text: isAll ? text.replace(sentence, '').trim() : text };
}
