import { join } from 'node:path';
import { process } from '../../../process.ts';
import { clearTimeout, setTimeout } from '../../../time/native-timers.ts';

const fs = process.getBuiltinModule('node:fs');

/** ms between two beats. */
const BEAT_MS = 500;
/** Digits of the count of beats: the file keeps its length, so that a full disk stops no beat. */
const DIGITS = 10;

/**
 * What a thread says of itself to others that have the store open, or are about to: a file of its own, which nobody
 * else writes.
 *
 *     byte 0     'o' it opens the store, '0' has it open, '1' commits
 *     byte 1 …   its beats, a count
 */
export class LmdbNote {
  private readonly file: string;
  private readonly handle: number;
  private beats = 0;
  private next: NodeJS.Timeout | undefined;

  constructor(folder: string, identity: string) {
    this.file = join(folder, identity);
    this.handle = fs.openSync(this.file, 'w');
    try {
      this.says('o');
    } catch (error) {
      this.close(); // a full disk, say
      throw error;
    }
    this.beat();
  }

  says(state: NoteState): void {
    fs.writeSync(this.handle, state, 0);
  }

  /**
   * Whether the file has been removed: by one of another pid namespace that took this thread for dead, or with its
   * folder.
   */
  get isRemoved(): boolean {
    return fs.fstatSync(this.handle).nlink === 0;
  }

  close(): void {
    clearTimeout(this.next);
    fs.closeSync(this.handle);
    fs.rmSync(this.file, { force: true });
  }

  private readonly beat = (): void => {
    this.beats += 1;
    try {
      fs.writeSync(this.handle, `${this.beats}`.padStart(DIGITS, '0'), 1);
    } catch {
      // The disk fails, which the commits say.
    }
    this.next = setTimeout(this.beat, BEAT_MS).unref();
  };
}

export type NoteState = 'o' | '0' | '1';

/** What another's note says. Empty, if it has only just been made. */
export const stateIn = (text: string): NoteState => (text === '' ? 'o' : (text[0] as NoteState));
