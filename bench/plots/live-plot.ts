import * as Plot from '@observablehq/plot';
import { rowIn } from '../engine/comparison.ts';
import { comparisonOf } from '../engine/figures.ts';
import { figure } from '../engine/format.ts';
import type { Results } from '../engine/results.ts';
import { liveCost, liveCounts, liveFigure, liveOperations } from '../suites/pictures/live-cost.ts';
import { DROP_IN, INLINE, NODE, SHARD } from '../suites/rates/rate-subjects.ts';
import { describeRun, framedPicture, type Panel, subjectScales } from './framed-picture.ts';
import { nameOf, palettes, type Theme } from './themes.ts';

const subjects = [NODE, INLINE, SHARD, DROP_IN];
const operations = Object.entries(liveOperations);

interface Point {
  readonly live: number;
  readonly subject: string;
  /** ns: median, least and most. */
  readonly cost: number;
  readonly least: number;
  readonly most: number;
}

const [LOWEST, HIGHEST] = [20, 5000];
const TICKS = [LOWEST, 50, 100, 200, 500, 1000, 2000, HIGHEST];
const within = (ns: number): number => Math.min(HIGHEST, Math.max(LOWEST, ns));

function pointsOf(results: Results, operation: string): Point[] {
  const comparison = comparisonOf(results, liveCost.name);
  return liveCounts.flatMap((live) =>
    subjects.flatMap((subject) => {
      const row = rowIn(comparison, subject, liveFigure(operation, live));
      if (row === undefined) return [];
      const { median, least, most } = row.value;
      return [{ live, subject, cost: median, least, most }];
    }),
  );
}

function panelOf(results: Results, operation: string, title: string, theme: Theme): Panel {
  const points = pointsOf(results, operation);
  const palette = palettes[theme];
  const channels = { x: 'live', y: ({ cost }: Point) => within(cost), z: 'subject', stroke: 'subject' };
  return {
    title,
    options: {
      x: {
        type: 'log',
        label: 'live timers',
        labelAnchor: 'center',
        labelArrow: 'none',
        domain: [liveCounts[0], liveCounts[liveCounts.length - 1]],
        ticks: [...liveCounts],
        tickFormat: (live: number) => (live < 1_000_000 ? `${live / 1000}k` : `${live / 1_000_000}M`),
      },
      y: { type: 'log', label: null, domain: [LOWEST, HIGHEST], axis: null },
      marginLeft: 56,
      ...subjectScales(subjects, theme),
    },
    marks: [
      // A logarithmic scale would leave out some of the labels.
      Plot.axisY(TICKS, { label: null, text: (ns: number) => (ns < 1000 ? `${ns} ns` : `${ns / 1000} µs`) }),
      Plot.gridY(TICKS, { stroke: palette.grid, strokeOpacity: 1 }),
      Plot.ruleX(points, {
        x: 'live',
        y1: ({ least }: Point) => within(least),
        y2: ({ most }: Point) => within(most),
        stroke: 'subject',
        strokeOpacity: 0.4,
      }),
      Plot.line(points, { ...channels, strokeWidth: 2 }),
      Plot.dot(points, { ...channels, symbol: 'subject', fill: 'subject', r: 3.5 }),
    ],
  };
}

function describeCosts(results: Results): string {
  const told = operations.map(([operation, { title }]) => {
    const points = pointsOf(results, operation);
    const ofLine = subjects.map((subject) => {
      const own = points.filter((point) => point.subject === subject);
      const values = own.map(({ live, cost }) => `${figure(cost)} at ${live.toLocaleString('en-US')}`);
      return `${nameOf[subject]} ${values.join(', ')}`;
    });
    return `${title}: ${ofLine.join('; ')}.`;
  });
  return `Nanoseconds of a call against the number of live timers; both axes are logarithmic. ${told.join(' ')}`;
}

/** Cost of a call against the number of live timers. */
export const livePlot = (results: Results, theme: Theme): string =>
  framedPicture(
    {
      title: 'What a call takes, against the number of live timers',
      subtitle:
        'CPU time of the calls alone, of random timers. Varied delays: 60,001 of them. Equal delays are the best case of Node’s lists.',
      description: describeCosts(results),
      caption: describeRun(results),
      subjects,
      panels: operations.map(([operation, { title }]) => panelOf(results, operation, title, theme)),
      columns: 3,
      panelHeight: 250,
    },
    theme,
  );
