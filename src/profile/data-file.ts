import { join } from 'node:path';
import { process } from '../process.ts';
import type { ProfileData } from './profile-data.ts';

const { mkdirSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs');

/** The file of one thread's data, in a folder that is created if it is missing. Each write replaces the file. */
export class DataFile {
  private readonly folder: string;
  private isMade = false;
  private hasFailed = false;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Returns whether it could be written; after a failure it is not tried again. */
  write(data: ProfileData): boolean {
    if (this.hasFailed) return false;
    const { pid, thread } = data.process;
    const path = join(this.folder, `${pid}-${thread}.json`);
    try {
      if (!this.isMade) mkdirSync(this.folder, { recursive: true });
      this.isMade = true;
      writeFileSync(`${path}.part`, JSON.stringify(data));
      renameSync(`${path}.part`, path);
    } catch {
      this.hasFailed = true; // a folder that is full or gone must not disturb the program
    }
    return !this.hasFailed;
  }
}
