import { Command } from 'commander';
import { readFlags } from '../../bench/replay/command-line.ts';
import { inOneLine } from '../../bench/replay/printable.ts';
import { jsonOf, lineOf, screenOf } from './watch-view.ts';
import { watchDashboard } from './watched-dashboard.ts';

interface WatchOptions {
  readonly json: boolean;
  readonly once: boolean;
  readonly token?: string;
}

const HOME = '\x1b[H';
const TO_END_OF_LINE = '\x1b[K';
const TO_END = '\x1b[J';

/**
 * `npx shardwheel watch <url>`: a dashboard's data in the terminal. Returns 0 after an interrupt, after one sample, or
 * when the dashboard has ended. Throws an Error if there is no dashboard, or the connection is lost: it does not
 * reconnect, so that a script can notice.
 */
export async function runWatch(argv: readonly string[]): Promise<number> {
  const command = new Command('npx shardwheel watch')
    .description('Shows the data of a dashboard: tables that are redrawn on a terminal, else a line per second.')
    .argument('<url>', 'the address of serveDashboard(), such as http://127.0.0.1:7373/')
    .option('--json', 'print what each sample shows as a line of JSON', false)
    .option('--once', 'print one sample, with rates, and end', false)
    .option('--token <token>', 'the token of the dashboard; also by SHARDWHEEL_TOKEN, or by ?token= in the address');
  if (!readFlags(command, argv)) return 0;
  const { json, once, token = process.env.SHARDWHEEL_TOKEN || undefined } = command.opts<WatchOptions>();
  const { stderr, stdout } = process;
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  stdout.on('error', stop); // the reader has gone
  const isScreen = stdout.isTTY && !json && !once;
  const tables = isScreen || once ? screenOf : lineOf;
  let taken = 0;
  try {
    for await (const news of watchDashboard(command.args[0], token, json ? jsonOf : tables, interrupt.signal)) {
      if ('waiting' in news) stderr.write(`a shard has not answered for ${news.waiting} s\n`);
      else if ('ended' in news) stderr.write(`${inOneLine(news.ended)}\n`);
      if (!('view' in news)) continue;
      const { view, text } = news;
      // Some rates need a second sample.
      taken += 1;
      if (once && (taken === 1 || view.rates === undefined)) continue;
      if (isScreen) stdout.write((taken === 1 ? HOME + TO_END : HOME) + redrawn(text));
      else stdout.write(`${text}\n`);
      if (once) break;
    }
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
  return 0;
}

/** Overwrites the previous text line by line, within the terminal's height. */
function redrawn(text: string): string {
  const { columns = 80, rows = 24 } = process.stdout;
  const lines = text.split('\n').slice(0, rows - 1);
  return `${lines.map((line) => line.slice(0, columns) + TO_END_OF_LINE).join('\n')}\n${TO_END}`;
}
