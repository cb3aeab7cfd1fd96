import { documents, read } from './documents.ts';

/** A piece of code that a page shows. */
export interface Block {
  readonly document: string;
  /** Of its first line, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/**
 * Pages that a user reads. Those of the API are signatures, made from the sources; the design has drawings; the
 * programs to copy are the examples.
 */
const pages = documents.filter(
  (path) => path === 'README.md' || /^docs\/(?!design\.|proxy-programs\.)[\w-]+\.md$/.test(path),
);

/** Every block of these pages. */
export const blocks: readonly Block[] = pages.flatMap((document) => {
  const text = read(document);
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const line = text.slice(0, match.index).split('\n').length + 1;
    return { document, line, language: match[1], code: match[2] };
  });
});

/** Name of the file that a block is, if it says one. */
export const fileNameOf = ({ code }: Block): string | undefined => /^\/\/ ([\w.-]+)\n/.exec(code)?.[1];
