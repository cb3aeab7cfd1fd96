import { visible } from '../../src/extras/dashboard/page/format.ts';

/** Maximum of characters of a line: no screen shows more, and a pipe's reader need not take more. */
const MAX_LINE_LENGTH = 4096;

/** A text of whoever as one line that a terminal only shows: what would command it stands there by its code. */
export const inOneLine = (text: string): string =>
  visible(text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text);

/** A text of several lines, each of which a terminal only shows. */
export const printable = (text: string): string => text.split('\n').map(inOneLine).join('\n');

/** Says what has failed, in one line. */
export function tellError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`error: ${inOneLine(message.trim())}`);
}
