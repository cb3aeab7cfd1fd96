import * as Plot from '@observablehq/plot';
import { rowIn } from '../engine/comparison.ts';
import { comparisonOf } from '../engine/figures.ts';
import { figure } from '../engine/format.ts';
import type { Results } from '../engine/results.ts';
import { EARLY, latenessFigure, latenessRates, latenessShape, shares } from '../suites/pictures/lateness-shape.ts';
import { INLINE, NODE, SHARD } from '../suites/rates/rate-subjects.ts';
import { describeRun, framedPicture, note, type Panel, subjectScales } from './framed-picture.ts';
import { nameOf, palettes, type Theme } from './themes.ts';

const subjects = [NODE, INLINE, SHARD];

/** ms; what comes later, or earlier, is beyond the picture. */
const [FIRST, LAST] = [-1.5, 5];

interface Point {
  readonly subject: string;
  /** Percent of the timers that come within so many ms. */
  readonly share: number;
  readonly late: number;
}

function pointsOf(results: Results, rate: number): Point[] {
  const comparison = comparisonOf(results, latenessShape.name);
  return subjects.flatMap((subject) =>
    shares.flatMap((share) => {
      const row = rowIn(comparison, subject, latenessFigure(rate, share));
      return row === undefined ? [] : [{ subject, share, late: row.value.least }];
    }),
  );
}

/** The part of a line that is within the picture, to its edge. */
function withinPicture(points: readonly Point[]): Point[] {
  return points.flatMap((point, at): Point[] => {
    if (point.late <= LAST) return [point];
    const before = points[at - 1];
    if (before?.subject !== point.subject || before.late > LAST) return [];
    const share = before.share + ((point.share - before.share) * (LAST - before.late)) / (point.late - before.late);
    return [{ subject: point.subject, share, late: LAST }];
  });
}

function panelOf(results: Results, rate: number, theme: Theme): Panel {
  const palette = palettes[theme];
  const points = pointsOf(results, rate);
  const channels = { x: 'late', y: 'share', z: 'subject', stroke: 'subject', curve: 'monotone-y' as const };
  const marked = points.filter(({ share, late }) => [1, 50, 90, 99].includes(share) && late >= FIRST && late <= LAST);
  return {
    title: `${rate.toLocaleString('en-US')} timers a second`,
    options: {
      x: {
        label: 'ms after its time',
        labelAnchor: 'center',
        labelArrow: 'none',
        domain: [FIRST, LAST],
        ticks: [-1, 0, 1, 2, 3, 4, 5],
        tickFormat: (ms: number) => String(ms),
      },
      y: { label: null, domain: [0, 100], ticks: [0, 25, 50, 75, 100], tickFormat: (share: number) => `${share} %` },
      ...subjectScales(subjects, theme),
    },
    marks: [
      Plot.rect([0], { x1: FIRST, x2: 0, y1: 0, y2: 100, fill: palette.shade }),
      Plot.gridY([0, 25, 50, 75, 100], { stroke: palette.grid, strokeOpacity: 1 }),
      Plot.ruleX([0], { stroke: palette.text, strokeWidth: 1.5 }),
      note(palette, 'too early', { x: FIRST + 0.1, y: 94 }, 'start'),
      Plot.line(withinPicture(points), { ...channels, strokeWidth: 2 }),
      Plot.dot(marked, { x: 'late', y: 'share', stroke: 'subject', fill: 'subject', symbol: 'subject', r: 3.5 }),
    ],
  };
}

function describeLateness(results: Results): string {
  const comparison = comparisonOf(results, latenessShape.name);
  const told = latenessRates.flatMap((rate) =>
    subjects.map((subject) => {
      const at = (key: number | typeof EARLY) => {
        const value = rowIn(comparison, subject, latenessFigure(rate, key))?.value;
        return figure((key === EARLY ? value?.median : value?.least) ?? Number.NaN);
      };
      const within = [50, 90, 99, 100].map((share) => `${share} % within ${at(share)} ms`).join(', ');
      return `${nameOf[subject]} at ${rate.toLocaleString('en-US')} a second: ${at(EARLY)} % early, ${within}.`;
    }),
  );
  return `Share of the timers that have come, against the time after they were due. ${told.join(' ')}`;
}

/** How late timers come, as a distribution. */
export const latenessPlot = (results: Results, theme: Theme): string =>
  framedPicture(
    {
      title: 'How late timers come: the share of them that has come, against the time after each was due',
      subtitle:
        'The steeper and the further left of a line, the better, but none left of 0. Marks: 1, 50, 90 and 99 %.',
      description: describeLateness(results),
      caption: describeRun(results, 'The least'),
      subjects,
      panels: latenessRates.map((rate) => panelOf(results, rate, theme)),
      columns: 2,
      panelHeight: 250,
    },
    theme,
  );
