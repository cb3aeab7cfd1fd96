import * as Plot from '@observablehq/plot';
import { comparisonOf } from '../engine/figures.ts';
import type { Results } from '../engine/results.ts';
import { nodeRatio } from '../suites/rates/node-ratio.ts';
import { DROP_IN, INLINE, NODE, REGISTERED, SHARD } from '../suites/rates/rate-subjects.ts';
import { ratedLoads, rateSuiteName } from '../suites/rates/rate-suites.ts';
import type { RateTask } from '../suites/rates/rate-task.ts';
import { describeRun, framedPicture, note, type Panel, subjectScales } from './framed-picture.ts';
import { nameOf, palettes, type Theme } from './themes.ts';

interface RatePanel {
  readonly load: RateTask['load'];
  /** Key of its figure. */
  readonly figure: string;
  readonly title: string;
  readonly unit: string;
}

const cold: RatePanel = {
  load: 'fires',
  figure: 'loop, cold',
  title: 'Timers that fire, from a cold start',
  unit: 'fires per second',
};
const warm: RatePanel = { ...cold, figure: 'loop, warm', title: 'Timers that fire' };
const pairs: RatePanel = {
  load: 'pairs',
  figure: 'whole',
  title: 'Timeouts set and cancelled',
  unit: 'pairs per second',
};
const replay: RatePanel = {
  load: 'replay',
  figure: 'loop',
  title: 'A proxy: four timers a connection',
  unit: 'connections per second',
};

/** All that is measured; and what a reader sees first. */
export const ratePictures = {
  rates: {
    subjects: [INLINE, SHARD, DROP_IN, REGISTERED],
    panels: [cold, { ...warm, title: 'Timers that fire, warm' }, pairs, replay],
    columns: 2,
  },
  'rates-short': { subjects: [INLINE, SHARD, DROP_IN], panels: [warm, pairs, replay], columns: 3 },
} as const;

export type RatePicture = keyof typeof ratePictures;

interface Point {
  readonly rate: number;
  readonly subject: string;
  /** Of Node's: median, least and most. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
}

/** What is beyond these is drawn there. */
const [LOWEST, HIGHEST] = [0.2, 5];
const TICKS = [LOWEST, 0.5, 1, 2, HIGHEST];

const within = (ratio: number): number => Math.min(HIGHEST, Math.max(LOWEST, ratio));

/** What was measured, where there is a ratio. */
function pointsOf(results: Results, { load, figure }: RatePanel, subjects: readonly string[]): Point[] {
  const { rates = [] } = ratedLoads.find((one) => one.load === load) ?? {};
  return rates.flatMap((rate) => {
    const comparison = comparisonOf(results, rateSuiteName(load, rate));
    return subjects.flatMap((subject) => {
      const ratio = nodeRatio(comparison, subject, figure);
      if (ratio === undefined || ratio.median <= 0) return [];
      const { median, least, most } = ratio;
      return [{ rate, subject, ratio: median, least, most }];
    });
  });
}

function panelOf(results: Results, panel: RatePanel, subjects: readonly string[], theme: Theme): Panel {
  const points = pointsOf(results, panel, subjects);
  const palette = palettes[theme];
  const channels = { x: 'rate', y: ({ ratio }: Point) => within(ratio), z: 'subject', stroke: 'subject' };
  return {
    title: panel.title,
    options: {
      x: {
        type: 'log',
        label: panel.unit,
        labelAnchor: 'center',
        labelArrow: 'none',
        domain: [10, 100_000],
        ticks: [10, 100, 1000, 10_000, 100_000],
        tickFormat: (rate: number) => (rate < 1000 ? String(rate) : `${rate / 1000}k`),
      },
      y: {
        type: 'log',
        label: null,
        domain: [LOWEST, HIGHEST],
        ticks: TICKS,
        tickFormat: (ratio: number) => `${ratio}×`,
      },
      ...subjectScales(subjects, theme),
    },
    marks: [
      Plot.rect([0], { x1: 10, x2: 100_000, y1: LOWEST, y2: 1, fill: palette.shade }),
      Plot.gridY(TICKS, { stroke: palette.grid, strokeOpacity: 1 }),
      Plot.ruleY([1], { stroke: palette.text, strokeWidth: 1.5 }),
      note(palette, 'costs more', { x: 90_000, y: 4.4 }, 'end'),
      note(palette, 'costs less', { x: 11.5, y: 0.23 }, 'start'),
      Plot.ruleX(points, {
        x: 'rate',
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

/** What the plot shows, for those who do not see it. */
function describeRates(results: Results, panels: readonly RatePanel[], subjects: readonly string[]): string {
  const told = panels.map((panel) => {
    const points = pointsOf(results, panel, subjects);
    const ofLine = subjects.flatMap((subject) => {
      const own = points.filter((point) => point.subject === subject);
      if (own.length === 0) return [];
      const values = own.map(({ rate, ratio }) => `${ratio.toFixed(2)} at ${rate.toLocaleString('en-US')}`);
      return [`${nameOf[subject]} ${values.join(', ')}`];
    });
    return `${panel.title}, by ${panel.unit}: ${ofLine.join('; ')}.`;
  });
  return [
    `Event-loop CPU per operation, of what ${NODE} take, against the rate; both axes are logarithmic.`,
    ...told,
    `Values beyond ${LOWEST} and ${HIGHEST} are drawn at those.`,
  ].join(' ');
}

/** Cost per operation, of Node's own, against the rate: a panel for each load. */
export function ratePlot(results: Results, name: RatePicture, theme: Theme): string {
  const { subjects, panels, columns } = ratePictures[name];
  return framedPicture(
    {
      title: "What a timer operation costs the event loop, as a multiple of Node's timers, against the rate",
      subtitle:
        'CPU time of the event loop’s thread. A vertical line through a point leads from the least round to the most.',
      description: describeRates(results, panels, subjects),
      caption: `${describeRun(results)} Where what Node's timers take is lost in the noise, no point is drawn.`,
      subjects,
      panels: panels.map((panel) => panelOf(results, panel, subjects, theme)),
      columns,
      panelHeight: columns === 2 ? 240 : 220,
    },
    theme,
  );
}
