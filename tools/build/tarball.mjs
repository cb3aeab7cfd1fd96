#!/usr/bin/env node
// Packs what `lib` holds and tries the tarball as a stranger would: its size, its manifest and types, and a program
// that installs it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Tools that look at the tarball, from the registry when they are needed. */
const CHECKERS = [
  ['publint@0.3.25', 'publint', '--strict'],
  ['@arethetypeswrong/cli@0.18.5', 'attw', '--profile', 'node16', '--quiet'],
];

/** What a stranger tries first. */
const PROGRAM = `
import { createScheduler } from 'shardwheel';
const scheduler = createScheduler({ shards: 1 });
await scheduler.ready;
const { by } = (await scheduler.stats()).serving;
if (by !== 'threads') throw new Error('timers are served by ' + by);
scheduler.scheduleAfter('hint', 10, (word) => console.log(word), 'fired');
`;

/** Bytes of the tarball and of what it holds, and files: raise one with a reason. */
const bounds = JSON.parse(readFileSync(new URL('./package-bounds.json', import.meta.url), 'utf8'));

const say = (line) => process.stdout.write(`${line}\n`);
const run = (command, argv, options) => execFileSync(command, argv, { stdio: ['ignore', 2, 2], ...options });

function pack(folder) {
  const argv = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const output = execFileSync('npm', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] });
  const [{ filename, size, unpackedSize, files }] = JSON.parse(output.slice(output.indexOf('[')));
  const taken = { size, unpackedSize, files: files.length };
  for (const [what, bound] of Object.entries(bounds)) {
    if (taken[what] > bound) throw new Error(`${what} of the package is ${taken[what]}, and may be ${bound}`);
  }
  return filename;
}

/** Returns the tarball's name. Throws where the tarball is not what a stranger can use. */
export function tryTarball() {
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-release-'));
  try {
    say('packing');
    const name = pack(folder);
    const tarball = join(folder, name);
    for (const [source, command, ...argv] of CHECKERS) {
      say(`checking with ${source}`);
      run('npx', ['--yes', '--package', source, command, tarball, ...argv]);
    }
    say('installing into an empty project');
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    writeFileSync(join(folder, 'main.mjs'), PROGRAM);
    run('npm', ['install', '--no-audit', '--no-fund', '--silent', tarball], { cwd: folder });
    const printed = execFileSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
    if (printed !== 'fired\n') throw new Error(`the installed package printed ${JSON.stringify(printed)}`);
    return name;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) say(`${tryTarball()} is good`);
