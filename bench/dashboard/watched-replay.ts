import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseOptions } from '../../tools/replay/options.ts';
import type { ReplayMessage, ReplayResult } from '../../tools/replay/replay-result.ts';

/** A replay of shardwheel in a process of its own, with its dashboard. */
export interface WatchedReplay {
  readonly child: ChildProcess;
  /** Of the dashboard; undefined where none is served. */
  readonly url: string | undefined;
  /** Rejects where the replay fails. */
  readonly result: Promise<ReplayResult>;
  /** Ends it early. */
  stop(): void;
}

/** Resolves once the first connections arrive. Throws UsageError for flags of the replay that are none. */
export async function startReplay(flags: readonly string[]): Promise<WatchedReplay> {
  const options = parseOptions(flags);
  const entry = fileURLToPath(
    new URL(`../../tools/replay/replay-process${import.meta.url.slice(-3)}`, import.meta.url),
  );
  const child = fork(entry, [JSON.stringify(['shardwheel', options])], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  let url: string | undefined;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    url ??= /^dashboard\s+(\S+)$/m.exec(text)?.[1];
  });
  let begun: () => void;
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const result = new Promise<ReplayResult>((resolve, reject) => {
    child.on('message', (message: ReplayMessage) => {
      if (message.type === 'progress' && message.progress.phase === 'arrivals') begun();
      if (message.type === 'failure') reject(new Error(message.message));
      if (message.type === 'result') resolve(message.result);
    });
    child.once('exit', (code) => reject(new Error(`The replay has ended without a result, exit code ${code}`)));
  });
  result.catch(() => undefined); // who waits for it hears of it
  await Promise.race([beginning, result]);
  return { child, url, result, stop: () => child.kill('SIGINT') };
}
