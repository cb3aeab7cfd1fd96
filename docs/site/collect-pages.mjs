// Copies what becomes a page to `pages`, which git ignores: VitePress finds its own packages only from within this folder.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withRelativeLinks } from '../../tools/build/packed-links.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = fileURLToPath(new URL('pages/', import.meta.url));

rmSync(pages, { recursive: true, force: true });
for (const folder of ['docs/adr', 'docs/api', 'examples']) mkdirSync(`${pages}${folder}`, { recursive: true });
cpSync(`${root}docs/images`, `${pages}docs/images`, { recursive: true });
const folders = ['docs', 'docs/adr', 'docs/api'].flatMap((folder) =>
  readdirSync(`${root}${folder}`).map((name) => `${folder}/${name}`),
);
const others = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'examples/README.md'];
// What the package does not hold its documents link in the repository; here it is a page.
for (const path of [...others, ...folders.filter((path) => path.endsWith('.md'))]) {
  writeFileSync(`${pages}${path}`, withRelativeLinks(path, readFileSync(`${root}${path}`, 'utf8')));
}
