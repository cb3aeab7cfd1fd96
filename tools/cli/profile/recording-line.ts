import type { WriteStream } from 'node:tty';
import { count } from '../../../bench/replay/format.ts';
import { operationsOf } from '../../../src/extras/profile/delay-counts.ts';
import type { ProfileData } from '../../../src/extras/profile/profile-data.ts';
import { readProfiles } from './profile-files.ts';

/** ms between two lines: on a terminal the line is rewritten in place. */
const ON_TERMINAL = 1000;
const ELSEWHERE = 10_000;

/** Reports on stderr what has been recorded, while the program runs. */
export class RecordingLine {
  private readonly stream: WriteStream;
  private readonly folder: string;
  private readonly begun = performance.now();
  private readonly timer: NodeJS.Timeout;

  constructor(stream: WriteStream, folder: string) {
    this.stream = stream;
    this.folder = folder;
    this.timer = setInterval(() => this.print(), stream.isTTY ? ON_TERMINAL : ELSEWHERE);
  }

  private print(): void {
    const seconds = ((performance.now() - this.begun) / 1000).toFixed(0);
    const line = `profile ${seconds.padStart(4)} s │ ${seenIn(readProfiles(this.folder))}`;
    if (this.stream.isTTY) this.stream.write(`\r\x1b[K${line.slice(0, this.stream.columns - 1)}`);
    else this.stream.write(`${line}\n`);
  }

  /** Prints another text for a while. */
  say(text: string): void {
    this.clear();
    this.stream.write(`${text}\n`);
  }

  private clear(): void {
    if (this.stream.isTTY) this.stream.write('\r\x1b[K');
  }

  end(): void {
    clearInterval(this.timer);
    this.clear();
  }
}

function seenIn([largest, ...others]: readonly ProfileData[]): string {
  if (largest === undefined) return 'no Node process has reported yet';
  const seen = `${count(largest.live)} timers live │ ${count(operationsOf(largest.totals))} operations`;
  return others.length > 0 ? `${seen} │ and ${others.length} more event loops` : seen;
}
