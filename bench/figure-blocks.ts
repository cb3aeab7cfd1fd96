import { readFileSync } from 'node:fs';
import { excerptOf, figuresOf, runOf, subjectsOf } from './engine/figures.ts';
import {
  type ReleaseReplays,
  releases,
  replayFiguresOf,
  replayFiles,
  replaySummaryOf,
} from './engine/replay-figures.ts';
import { readReleases, readResults } from './engine/results-file.ts';
import { planFiguresOf } from './plan/plan-figures.ts';
import { faceFiguresOf } from './suites/faces/face-figures.ts';
import { loadingFiguresOf } from './suites/loading/loading-figures.ts';
import { programsOf } from './suites/programs/program-figures.ts';
import { rateFiguresOf, rateSummaryOf } from './suites/rates/rate-figures.ts';
import { ratePlot, themes } from './suites/rates/rate-plot.ts';

/** The release whose programs are shown figure by figure. */
const REFERENCE = '24';

/** The pictures of a run, by their paths from the root. */
export function figurePlots(root: URL): [path: string, svg: string][] {
  const { [REFERENCE]: rates } = readReleases(readFileSync(new URL('bench/results/rates.json', root), 'utf8'));
  return themes.map((theme) => [`docs/images/rates-${theme}.svg`, ratePlot(rates, theme)]);
}

/** The figures of each run, and the documents that show them. `root`: the project's. */
export function figureBlocks(root: URL): [path: string, block: string][] {
  const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
  const run = (name: string) => readResults(read(`bench/results/${name}.json`));
  const byRelease = (name: string) => readReleases(read(`bench/results/${name}.json`));
  const [reference, onNode20, onNode26] = ['reference', 'reference-20', 'reference-26'].map(run);
  const [durable, programs, rates] = ['durable', 'programs', 'rates'].map(byRelease);
  const replays = releases.map((release): ReleaseReplays => {
    const { plain, contexts } = replayFiles(release);
    return { plain: JSON.parse(read(plain)), contexts: JSON.parse(read(contexts)) };
  });
  return [
    ['README.md', replaySummaryOf(replays)],
    ['docs/performance.md', replayFiguresOf(replays)],
    ['docs/performance.md', figuresOf(reference)],
    ['docs/performance.md', rateSummaryOf(rates[REFERENCE])],
    ['docs/performance.md', programsOf(programs)],
    [
      'docs/performance.md',
      excerptOf(
        run('peers'),
        'calls',
        'scheduler calls',
        ['node:timers', 'shardwheel', 'shardwheel, after', 'loads alone'],
        ['pairFew', 'moveFew', 'pairMany', 'moveMany'],
      ),
    ],
    ...['random', 'move'].map((suite): [string, string] => [
      'docs/performance.md',
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
    ['docs/durable.md', figuresOf(durable[REFERENCE], 'durable-targets')],
    ['docs/figures.md', subjectsOf(reference)],
    ['docs/figures.md', figuresOf(onNode20)],
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
    ['docs/figures.md', planFiguresOf(JSON.parse(read('bench/results/plan.json')))],
    ['docs/figures.md', planFiguresOf(JSON.parse(read('bench/results/plan-many.json')), 'plan-many')],
    ['docs/figures.md', runOf(programs[REFERENCE], 'program-subjects')],
  ];
}
