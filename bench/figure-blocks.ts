import { readFileSync } from 'node:fs';
import { excerptOf, figuresOf, runOf, subjectsOf } from './engine/figures.ts';
import { releaseOf } from './engine/release-results.ts';
import { readReleases, readResults } from './engine/results-file.ts';
import { ideaDrawing } from './plots/idea-drawing.ts';
import { latenessPlot } from './plots/lateness-plot.ts';
import { livePlot } from './plots/live-plot.ts';
import { loopPlot } from './plots/loop-plot.ts';
import { type RatePicture, ratePictures, ratePlot } from './plots/rate-plot.ts';
import { type Theme, themes } from './plots/themes.ts';
import { faceFiguresOf } from './suites/faces/face-figures.ts';
import { loadingFiguresOf } from './suites/loading/loading-figures.ts';
import { programsOf } from './suites/programs/program-figures.ts';
import { rateFiguresOf, rateSummaryOf } from './suites/rates/rate-figures.ts';
import { rateLatenessOf } from './suites/rates/rate-lateness.ts';
import { rateVerdictOf } from './suites/rates/rate-verdict.ts';
import { replayFiguresOf } from './suites/scheduler/replay-figures.ts';
import { replaySummaryOf } from './suites/scheduler/replay-summary.ts';
import { replaysOf } from './suites/scheduler/replays.ts';

/** The release whose programs are shown figure by figure. */
const REFERENCE = '24';

/** The pictures, by their paths from the root, for light and for dark pages. */
export function figurePlots(root: URL): [path: string, svg: string][] {
  const read = (name: string) => readFileSync(new URL(`bench/results/${name}.json`, root), 'utf8');
  const { [REFERENCE]: rates } = readReleases(read('rates'));
  const run = (name: string) => readResults(read(name));
  const names = Object.keys(ratePictures) as RatePicture[];
  const drawings: [name: string, draw: (theme: Theme) => string][] = [
    ...names.map((name): [string, (theme: Theme) => string] => [name, (theme) => ratePlot(rates, name, theme)]),
    ['live', (theme) => livePlot(run('live'), theme)],
    ['lateness', (theme) => latenessPlot(run('lateness'), theme)],
    ['loop', (theme) => loopPlot(run('loop'), theme)],
    ['idea', ideaDrawing],
  ];
  return drawings.flatMap(([name, draw]) =>
    themes.map((theme): [string, string] => [`docs/images/${name}-${theme}.svg`, draw(theme)]),
  );
}

/** The figures of each run, and the documents that show them. `root`: the project's. */
export function figureBlocks(root: URL): [path: string, block: string][] {
  const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
  const run = (name: string) => readResults(read(`bench/results/${name}.json`));
  const byRelease = (name: string) => readReleases(read(`bench/results/${name}.json`));
  const reference = run('reference');
  const onNode20 = run('reference-20');
  const onNode22 = run('reference-22');
  const onNode26 = run('reference-26');
  const [durable, programs, rates, replay] = ['durable', 'programs', 'rates', 'replay'].map(byRelease);
  return [
    ['README.md', replaySummaryOf(replay, run('replay-elsewhere'))],
    ['docs/performance.md', replayFiguresOf(replay)],
    ['docs/performance-internals.md', figuresOf(reference)],
    ['docs/performance.md', rateSummaryOf(rates[REFERENCE])],
    ['docs/performance.md', rateVerdictOf(rates[REFERENCE])],
    ['README.md', rateVerdictOf(rates[REFERENCE])],
    ['docs/performance.md', programsOf(programs)],
    ['docs/performance.md', rateLatenessOf(rates[REFERENCE])],
    ['docs/decide.md', rateLatenessOf(rates[REFERENCE])],
    [
      'docs/performance-internals.md',
      excerptOf(
        run('peers'),
        'calls',
        'scheduler calls',
        ['node:timers', 'shardwheel', 'shardwheel, after', 'loads alone'],
        ['pairFew', 'moveFew', 'pairMany', 'moveMany'],
      ),
    ],
    ...['random', 'move'].map((suite): [string, string] => [
      'docs/performance-internals.md',
      excerptOf(
        run('peers'),
        `loads-${suite}`,
        `scheduler ${suite}`,
        ['node:timers', 'shardwheel', 'loads alone'],
        ['loop', 'process'],
      ),
    ]),
    [
      'docs/compare.md',
      excerptOf(
        run('runtimes'),
        'compare-timers',
        'runtimes timers',
        ['node:timers, Node 24', 'shardwheel, Node 24', "undici's fast timers, Node 24"],
        ['set, CPU', 'random, CPU', 'newest, CPU', 'refresh, CPU', 'fire', 'p99', 'early', 'bytes'],
      ),
    ],
    [
      'docs/compare.md',
      excerptOf(
        run('peers'),
        'compare-moves',
        'scheduler move',
        ['node:timers', 'retimer', 'timeout-refresh', 'shardwheel', 'shardwheel, after'],
        ['loop', 'process', 'block'],
      ),
    ],
    [
      'docs/compare.md',
      excerptOf(
        programs[REFERENCE],
        'compare-maps',
        'programs map',
        [
          'lru-cache, node:timers',
          'lru-cache, shardwheel/timers',
          'ttlcache, node:timers',
          'Map + schedule, shardwheel, inline',
        ],
        ['loop', 'process', 'p99', 'bytes'],
      ),
    ],
    [
      'docs/compare.md',
      excerptOf(
        durable[REFERENCE],
        'compare-stores',
        'durable connections',
        ['BullMQ alone', 'shardwheel on BullMQ', 'shardwheel on BullMQ, young timers', 'shardwheel on LMDB'],
        ['writes', 'cpu', 'redis', 'p50', 'p99'],
      ),
    ],
    [
      'docs/capacity.md',
      excerptOf(run('schedulers'), 'memory', 'scheduler memory', ['node:timers', 'shardwheel'], ['rss', 'churned']),
    ],
    ['docs/durable.md', figuresOf(durable[REFERENCE], 'durable-targets')],
    ['docs/figures.md', subjectsOf(reference)],
    ['docs/figures.md', runOf(run('wheels'), 'wheels')],
    ['docs/figures.md', runOf(run('growth'), 'growth')],
    ['docs/figures.md', runOf(run('peers'), 'peers')],
    ['docs/figures.md', runOf(run('schedulers'), 'schedulers')],
    ...replaysOf(replay).map((each): [string, string] => ['docs/figures.md', runOf(each, `replay-${releaseOf(each)}`)]),
    ['docs/figures.md', figuresOf(onNode20)],
    ['docs/figures.md', figuresOf(onNode22, 'figures-22')],
    ['docs/figures.md', figuresOf(onNode26, 'figures-26')],
    ['docs/figures.md', runOf(run('slack'), 'slack')],
    ['docs/figures.md', runOf(run('steering'), 'steering')],
    ['docs/figures.md', runOf(run('clients'), 'clients')],
    ['docs/figures.md', rateFiguresOf(rates)],
    ['docs/figures.md', faceFiguresOf(byRelease('faces'))],
    ['docs/figures.md', runOf(durable[REFERENCE], 'durable-reference')],
    ['docs/figures.md', figuresOf(durable[20], 'durable-targets')],
    ['docs/figures.md', runOf(durable[20], 'durable')],
    ['docs/figures.md', loadingFiguresOf(byRelease('loading'))],
    ['docs/figures.md', runOf(run('runtimes'), 'runtimes')],
    ['docs/figures.md', runOf(programs[REFERENCE], 'program-subjects')],
  ];
}
