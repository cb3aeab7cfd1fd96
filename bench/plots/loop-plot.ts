import * as Plot from '@observablehq/plot';
import { rowIn } from '../engine/comparison.ts';
import { comparisonOf } from '../engine/figures.ts';
import { figure } from '../engine/format.ts';
import type { Results } from '../engine/results.ts';
import { DUE_AT, LAST, loopTrace, SLICE, slices, traceFigure } from '../suites/pictures/loop-trace.ts';
import { INLINE, NODE, SHARD } from '../suites/rates/rate-subjects.ts';
import { describeRun, framedPicture, type Panel } from './framed-picture.ts';
import { colourOf, nameOf, palettes, type Theme } from './themes.ts';

const subjects = [NODE, INLINE, SHARD];

/** ms; what is shorter is drawn as the least. */
const [LEAST, MOST] = [0.1, 1000];
const TICKS = [LEAST, 1, 10, 100, MOST];

interface Turn {
  /** s: where it is drawn. */
  readonly from: number;
  readonly to: number;
  /** ms. */
  readonly took: number;
}

/**
 * The longest turn of each slice, in the round in which it was least: what other programs add is in no two rounds the
 * same. Slices in a row that one long turn fills are that turn, as wide as it took: where others had the core
 * meanwhile, more slices passed.
 */
function turnsOf(results: Results, subject: string): Turn[] {
  const comparison = comparisonOf(results, loopTrace.name);
  const turns: Turn[] = [];
  let isLong = false;
  for (const at of slices) {
    const took = rowIn(comparison, subject, traceFigure(at))?.value.least ?? 0;
    const goesOn = isLong && took > SLICE;
    isLong = took > SLICE;
    if (goesOn) {
      const turn = turns[turns.length - 1];
      turns[turns.length - 1] = turnFrom(turn.from, Math.max(turn.took, took));
    } else turns.push(turnFrom(at / 1000, took));
  }
  return turns;
}

const turnFrom = (from: number, took: number): Turn => ({ from, to: from + Math.max(SLICE, took) / 1000, took });

const lengthOf = (ms: number): string => (ms < 1000 ? `${figure(ms)} ms` : `${figure(ms / 1000)} s`);

function panelOf(results: Results, subject: string, theme: Theme): Panel {
  const palette = palettes[theme];
  const turns = turnsOf(results, subject);
  const longest = turns.reduce((most, turn) => (turn.took > most.took ? turn : most), turns[0]);
  return {
    title: nameOf[subject],
    options: {
      x: {
        label: 'seconds',
        labelAnchor: 'center',
        labelArrow: 'none',
        domain: [0, 10],
        ticks: [0, 2, 4, 6, 8, 10],
        tickFormat: (s: number) => String(s),
      },
      y: {
        type: 'log',
        label: null,
        domain: [LEAST, MOST],
        ticks: TICKS,
        tickFormat: (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`),
      },
      marginLeft: 56,
    },
    marks: [
      Plot.gridY(TICKS, { stroke: palette.grid, strokeOpacity: 1 }),
      Plot.rectY(turns, {
        x1: 'from',
        x2: 'to',
        y1: LEAST,
        y2: ({ took }: Turn) => Math.max(LEAST, took),
        fill: colourOf[theme][subject],
      }),
      Plot.ruleX([DUE_AT], { stroke: palette.text, strokeDasharray: '3 3' }),
      Plot.text([`longest: ${lengthOf(longest.took)}`], {
        x: 9.9,
        y: 600,
        textAnchor: 'end',
        fill: palette.text,
        fontWeight: 600,
      }),
    ],
  };
}

function describeTrace(results: Results): string {
  const comparison = comparisonOf(results, loopTrace.name);
  const told = subjects.map((subject) => {
    const longest = Math.max(...turnsOf(results, subject).map(({ took }) => took));
    const last = rowIn(comparison, subject, LAST)?.value.least ?? Number.NaN;
    return `${nameOf[subject]}: the longest turn takes ${lengthOf(longest)}, the last timer comes after ${lengthOf(last)}.`;
  });
  return `The longest turn of each ${SLICE} ms, against time; its axis is logarithmic. ${told.join(' ')}`;
}

/** An event loop over ten seconds, in which a million timers come due. */
export const loopPlot = (results: Results, theme: Theme): string =>
  framedPicture(
    {
      title: `An event loop over ten seconds, in which a million timers come due at second ${DUE_AT}`,
      subtitle: `The longest turn of the loop in each ${SLICE} ms, in CPU time of its thread. Within a turn no socket is served.`,
      description: describeTrace(results),
      caption: describeRun(results, 'The least'),
      subjects: [],
      panels: subjects.map((subject) => panelOf(results, subject, theme)),
      columns: 3,
      panelHeight: 220,
    },
    theme,
  );
