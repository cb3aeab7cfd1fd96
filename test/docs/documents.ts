import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const read = (path: string): string => readFileSync(root + path, 'utf8');

const pagesOf = (folder: string): string[] =>
  readdirSync(root + folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

/** Every page that somebody reads. */
export const documents: readonly string[] = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md'],
  ...pagesOf('docs'),
  ...pagesOf('docs/adr'),
  ...pagesOf('docs/api'),
];

/** The pages of the API, and all of them as one text: each has its entry as the title. */
export const apiPages: readonly string[] = pagesOf('docs/api').map(read);
export const api: string = apiPages.join('\n');

/** The text below a heading, up to the next of its level or above; undefined where there is none. */
export function below(heading: string, text: string): string | undefined {
  const from = text.indexOf(`\n${heading}\n`);
  if (from < 0) return undefined;
  const rest = text.slice(from + heading.length + 2);
  const end = rest.search(new RegExp(`\n#{1,${heading.indexOf(' ')}} `));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The entry points of the package, as programs import them, and the source of each. */
export const entries: ReadonlyMap<string, string> = new Map(
  Object.keys(JSON.parse(read('package.json')).exports)
    .filter((path) => path !== './package.json')
    .map((path) => path.replace(/^\.(?=\/|$)/, 'shardwheel'))
    .map((entry) => {
      const file = entry === 'shardwheel' ? 'index' : entry.replace('shardwheel/', '').replace('/', '-');
      const path = `src/entries/${file}.ts`;
      return [entry, existsSync(root + path) ? read(path) : ''];
    }),
);

/** The names that an entry exports, types included. */
export function exportsOf(entry: string): string[] {
  const source = entries.get(entry) ?? '';
  const listed = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => names.split(','));
  const declared = source.matchAll(/^export (?:const|function|class|interface|type) (\w+)/gm);
  const named = listed.map((name) => name.trim().replace(/^(type |.* as )+/, ''));
  return [...named, ...[...declared].map(([, name]) => name)].filter((name) => name !== '' && name !== 'default');
}

/** The text of each source of the library. */
export const sources: readonly string[] = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => read(`src/${path}`));

/** The codes of errors and warnings that the sources quote. */
export const codesOfTheSources: ReadonlySet<string> = new Set(
  sources.flatMap((text) =>
    [...text.matchAll(/'((?:ERR|SHARDWHEEL)_[A-Z_]+|ABORT_ERR|HOT_SHARD)'/g)].map(([, code]) => code),
  ),
);

/**
 * The anchors of a page's headings, as GitHub makes them, and the site: one that an earlier heading has already gets a
 * number.
 */
export function anchorsOf(text: string): Set<string> {
  const slugs = [...text.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(
    slugs.map((slug, index) => {
      const earlier = slugs.slice(0, index).filter((each) => each === slug).length;
      return earlier === 0 ? slug : `${slug}-${earlier}`;
    }),
  );
}
