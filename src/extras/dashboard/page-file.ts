import { join } from 'node:path';
import { MissingFileError } from '../../errors.ts';
import { builtFolder, searchedFolders } from '../../package-files.ts';
import { process } from '../../process.ts';

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

export interface PageFile {
  readonly body: Buffer;
  /** What the page may do, for its Content-Security-Policy: run its own script, and ask its own origin. */
  readonly policy: string;
}

/**
 * Returns the page, which has its script and its style within and names no other file or host. Throws MissingFileError.
 */
export function readPage(): PageFile {
  const body = readFileSync(join(lib(), 'pages', 'dashboard', 'page.html'));
  const { createHash } = process.getBuiltinModule('node:crypto');
  const allowed = (tag: string): string => {
    const [, text = ''] = new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`).exec(body.toString()) ?? [];
    return `${tag}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  const policy = [
    "default-src 'none'",
    allowed('script'),
    allowed('style'),
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { body, policy };
}
