import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { entries } from '../api/entries.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { repository, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const home = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** What is a page: see `collect-pages.mjs`. */
const isPage = (path) =>
  /^(README|CHANGELOG|CONTRIBUTING)\.md$|^docs\/(?:(?:adr|api)\/)?[^/]+\.md$|^examples\/README\.md$/.test(path);

const page = (text, name) => ({ text, link: `/docs/${name}` });

/** A link to a file of the repository that is no page leads to the repository. */
function leadHome(markdown) {
  markdown.core.ruler.push('links-home', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : undefined;
        if (href === undefined || href === null || /^(\w+:|#|\/)/.test(href)) continue;
        const [file, anchor = ''] = href.split('#');
        const path = relative(root, resolve(root, dirname(sourceOf(env.relativePath)), file));
        if (isPage(path) || !existsSync(join(root, path))) continue; // one that is nowhere is left for VitePress to find
        token.attrSet('href', `${home}/blob/main/${path}${anchor === '' ? '' : `#${anchor}`}`);
      }
    }
  });
}

/** An anchor as GitHub makes it, so that a link holds there and here. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

/** Where a page comes from. */
const sourceOf = (relativePath) => (relativePath === 'index.md' ? 'README.md' : relativePath);

export default defineConfig({
  title: 'shardwheel',
  description,
  base: process.env.SITE_BASE ?? '/', // on GitHub Pages the repository's name
  srcDir: './pages',
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  markdown: { config: leadHome, anchor: { slugify } },
  themeConfig: {
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: home }],
    outline: [2, 3],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'What it is', link: '/' },
          page('Moving here', 'moving'),
          page('Guide', 'guide'),
          page('Proxies and servers', 'proxies'),
          page('Programs to copy', 'proxy-programs'),
          { text: 'Examples', link: '/examples/README' },
          page('Install, bundle, runtimes', 'install'),
          page('Questions', 'faq'),
        ],
      },
      {
        text: 'Decide',
        items: [
          page('Profile, plan, size', 'decide'),
          page('Compare', 'compare'),
          page('Performance', 'performance'),
          page('Capacity and containers', 'capacity'),
          page('All figures', 'figures'),
        ],
      },
      {
        text: 'Use',
        items: [
          page('Drop-in timers', 'drop-in'),
          page('Durable timers', 'durable'),
          page('Operate', 'operate'),
          page('Dashboard', 'dashboard'),
          page('Support', 'support'),
        ],
      },
      {
        text: 'Look up',
        items: [
          {
            ...page('API', 'api/README'),
            collapsed: true,
            items: entries.map((entry) => page(entry.name, `api/${entry.page}`)),
          },
          page('Guarantees', 'guarantees'),
          { text: 'Changes', link: '/CHANGELOG' },
        ],
      },
      {
        text: 'Understand',
        items: [
          page('Design', 'design'),
          page('Decisions', 'adr/README'),
          page('Performance, from inside', 'performance-internals'),
          page('Performance log', 'performance-log'),
          { text: 'Contributing', link: '/CONTRIBUTING' },
        ],
      },
    ],
  },
});
