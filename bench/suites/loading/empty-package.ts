import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A package that does nothing, as an ES module by its address and as CommonJS by its path. */
export interface EmptyPackage {
  readonly module: string;
  readonly commonjs: string;
}

/** Lends such a package, in a folder that is gone afterwards. */
export async function withEmptyPackage<T>(use: (empty: EmptyPackage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-empty-'));
  const put = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  try {
    put('package.json', '{"name":"empty","type":"module"}');
    return await use({ module: pathToFileURL(put('index.js', '')).href, commonjs: put('index.cjs', '') });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
