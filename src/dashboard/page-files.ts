import { join } from 'node:path';
import { MissingFileError } from '../errors.ts';
import { builtFolder, searchedFolders } from '../package-files.ts';
import { process } from '../process.ts';

const { readFileSync } = process.getBuiltinModule('node:fs');

/** Returns this package's version, as the page shows it. Throws MissingFileError. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(join(lib(), '..', 'package.json'), 'utf8')).version;
}

function lib(): string {
  const folder = builtFolder();
  if (folder === undefined) throw MissingFileError.page(searchedFolders());
  return folder;
}

/** Returns all files for a browser by path, as they are sent; none of them names another host. Throws MissingFileError. */
export function readPageFiles() {
  const folder = join(lib(), 'pages', 'dashboard');
  const file = (name: string, type: string) => ({
    type: `${type}; charset=utf-8`,
    body: readFileSync(join(folder, name)),
  });
  return new Map([
    ['/', file('page.html', 'text/html')],
    ['/main.js', file('main.js', 'text/javascript')],
    ['/style.css', file('style.css', 'text/css')],
  ]);
}
