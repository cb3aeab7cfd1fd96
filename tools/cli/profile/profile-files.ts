import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationsOf } from '../../../src/extras/profile/delay-counts.ts';
import type { ProfileData } from '../../../src/extras/profile/profile-data.ts';

/** What the threads of a program have written into a folder, those with most timer operations first. */
export function readProfiles(folder: string): ProfileData[] {
  const found = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => profileIn(join(folder, name)));
  return found.sort((one, other) => operationsOf(other.totals) - operationsOf(one.totals));
}

/** Returns nothing for any other file. */
function profileIn(path: string): ProfileData[] {
  try {
    const data = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProfileData> | null;
    return data?.format === 1 && data.totals !== undefined && data.process !== undefined ? [data as ProfileData] : [];
  } catch {
    return []; // not JSON, or gone by now
  }
}
