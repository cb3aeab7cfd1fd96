import { join } from 'node:path';
import { MissingFileError } from '../errors.ts';
import { builtFolder, searchedFolders } from '../package-files.ts';
import { process } from '../process.ts';

const { readFileSync } = process.getBuiltinModule('node:fs');

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** Returns this package's version, as the page shows it. Throws MissingFileError. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(join(lib(), '..', 'package.json'), 'utf8')).version;
}

function lib(): string {
  const folder = builtFolder();
  if (folder === undefined) throw MissingFileError.page(searchedFolders());
  return folder;
}

/** Returns all files for a browser by path; none of them names another host. Throws MissingFileError. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const folder = join(lib(), 'pages', 'dashboard');
  const file = (name: string, type: string): PageFile => {
    return { type: `${type}; charset=utf-8`, body: readFileSync(join(folder, name)) };
  };
  return new Map([
    ['/', file('page.html', 'text/html')],
    ['/main.js', file('main.js', 'text/javascript')],
    ['/style.css', file('style.css', 'text/css')],
  ]);
}
