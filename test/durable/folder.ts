import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder for the test that runs, or is about to. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-durable-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
