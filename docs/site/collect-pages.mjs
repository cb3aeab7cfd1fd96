// Copies what becomes a page to `pages`, which git ignores: VitePress finds its own packages only from within this folder.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = fileURLToPath(new URL('pages/', import.meta.url));

rmSync(pages, { recursive: true, force: true });
for (const folder of ['docs/adr', 'docs/api', 'examples']) mkdirSync(`${pages}${folder}`, { recursive: true });
cpSync(`${root}docs/images`, `${pages}docs/images`, { recursive: true });
for (const folder of ['docs', 'docs/adr', 'docs/api']) {
  const names = readdirSync(`${root}${folder}`).filter((name) => name.endsWith('.md'));
  for (const name of names) cpSync(`${root}${folder}/${name}`, `${pages}${folder}/${name}`);
}
for (const name of ['CHANGELOG.md', 'CONTRIBUTING.md', 'examples/README.md'])
  cpSync(`${root}${name}`, `${pages}${name}`);
// What the package does not hold its README links in the repository; here it is a page.
const readme = readFileSync(`${root}README.md`, 'utf8');
writeFileSync(`${pages}README.md`, readme.replaceAll('https://github.com/shardwheel/shardwheel/blob/main/', ''));
