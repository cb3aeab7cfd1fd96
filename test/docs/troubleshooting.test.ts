import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
const text = readFileSync(`${root}docs/troubleshooting.md`, 'utf8');

/** What a variable of the environment is named is no code. */
const variables = ['SHARDWHEEL_TIMERS', 'SHARDWHEEL_TIMERS_FROM', 'SHARDWHEEL_PROFILE_SECONDS'];

test('docs/troubleshooting.md has every code that the package throws, reports or warns of, and no other', () => {
  const quoted = /'((?:ERR|SHARDWHEEL)_[A-Z_]+|ABORT_ERR|HOT_SHARD)'/g;
  const codes = sources.flatMap((path) =>
    [...readFileSync(`${root}src/${path}`, 'utf8').matchAll(quoted)].map(([, code]) => code),
  );
  const wanted = [...new Set(codes)].filter((code) => !variables.includes(code)).sort();
  const listed = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code).sort();
  expect(listed).toEqual(wanted);
  expect(wanted.length).toBeGreaterThan(20);
});
