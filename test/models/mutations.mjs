import { readFileSync } from 'node:fs';

/**
 * The mutations of a model, of `<model>.mutations`: a line `# name: what is wrong then`, then one change or several,
 * with `@@` between them. A change is written as in a diff, with no more context than it needs to fit one place of the
 * model.
 */
export function mutationsOf(model) {
  const [text, changes] = ['pml', 'mutations'].map((kind) =>
    readFileSync(new URL(`${model}.${kind}`, import.meta.url), 'utf8'),
  );
  return changes
    .split(/^# /m)
    .slice(1)
    .map((mutation) => {
      const [title, ...lines] = mutation.trimEnd().split('\n');
      const name = title.slice(0, title.indexOf(':'));
      return {
        name,
        text: lines
          .join('\n')
          .split('\n@@\n')
          .reduce((mutated, change) => apply(mutated, change, name), text),
      };
    });
}

function apply(text, change, name) {
  const without = (sign) =>
    `\n${change
      .split('\n')
      .filter((line) => line[0] !== sign)
      .map((line) => `${line.slice(1)}\n`)
      .join('')}`;
  const parts = text.split(without('+'));
  if (parts.length !== 2)
    throw new Error(`${name} fits ${parts.length - 1} places of its model, and not one:\n${change}`);
  return parts.join(without('-'));
}
