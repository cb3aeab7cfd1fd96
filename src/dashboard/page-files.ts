import { readFile } from 'node:fs/promises';

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const folder = new URL('../../pages/dashboard/', import.meta.url);

/** By path. All that a browser is given; nothing of it names another host. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const files = [
    ['/', 'page.html', 'text/html'],
    ['/main.js', 'main.js', 'text/javascript'],
    ['/style.css', 'style.css', 'text/css'],
  ].map(async ([path, name, type]): Promise<[string, PageFile]> => {
    return [path, { type: `${type}; charset=utf-8`, body: await readFile(new URL(name, folder)) }];
  });
  return new Map(await Promise.all(files));
}
