#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { faceFiguresOf } from './faces/face-figures.ts';
import { figuresOf, partOf, runOf, subjectsOf, withBlock } from './figures.ts';
import { loadingFiguresOf } from './loading/loading-figures.ts';
import { planFiguresOf } from './plan/plan-figures.ts';
import { programsOf } from './programs/program-figures.ts';
import { type ReleaseReplays, releases, replayFiguresOf, replayFiles, replaySummaryOf } from './replay-figures.ts';
import { steeringPages } from './steering/steering-pages.ts';
import { nativeWheelsOf } from './wheel/native-wheels.ts';

/** The release whose programs are shown figure by figure. */
const REFERENCE = '24';

// Writes the figures of each run where the documents show them.
const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const results = JSON.parse(read('bench/results/reference.json'));
const onNode20 = JSON.parse(read('bench/results/reference-20.json'));
const clients = JSON.parse(read('bench/results/clients.json'));
const steering = JSON.parse(read('bench/results/steering.json'));
const plan = JSON.parse(read('bench/results/plan.json'));
const slack = JSON.parse(read('bench/results/slack.json'));
const faces = JSON.parse(read('bench/results/faces.json'));
const runtimes = JSON.parse(read('bench/results/runtimes.json'));
const durable = JSON.parse(read('bench/results/durable.json'));
const loading = JSON.parse(read('bench/results/loading.json'));
const programs = JSON.parse(read('bench/results/programs.json'));
const replays = releases.map((release): ReleaseReplays => {
  const { plain, contexts } = replayFiles(release);
  return { plain: JSON.parse(read(plain)), contexts: JSON.parse(read(contexts)) };
});
const blocks: [path: string, written: string][] = [
  ['README.md', replaySummaryOf(replays)],
  ['docs/performance.md', replayFiguresOf(replays)],
  ['docs/performance.md', figuresOf(results)],
  ['docs/figures.md', runOf(slack, 'slack')],
  ...Object.entries(steeringPages).map(([path, suites]): [string, string] => [
    path,
    runOf(partOf(steering, suites), 'steering'),
  ]),
  ['docs/figures.md', planFiguresOf(plan)],
  ['docs/figures.md', subjectsOf(results)],
  ['docs/figures.md', figuresOf(onNode20)],
  ['docs/figures.md', figuresOf(clients, 'clients-targets')],
  ['docs/figures.md', runOf(clients, 'clients')],
  ['docs/figures.md', faceFiguresOf(faces)],
  ['docs/durable.md', figuresOf(durable[REFERENCE], 'durable-targets')],
  ['docs/figures.md', runOf(durable[REFERENCE], 'durable-reference')],
  ['docs/figures.md', figuresOf(durable[20], 'durable-targets')],
  ['docs/figures.md', runOf(durable[20], 'durable')],
  ['docs/performance.md', programsOf(programs)],
  ['docs/figures.md', loadingFiguresOf(loading)],
  ['docs/figures.md', runOf(runtimes, 'runtimes')],
  ['docs/figures.md', runOf(programs[REFERENCE], 'program-subjects')],
  ['docs/figures.md', nativeWheelsOf(results)],
];
for (const [path, written] of blocks) {
  writeFileSync(new URL(path, root), withBlock(read(path), written));
  console.log(`written: ${path}`);
}
