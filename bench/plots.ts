import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Comparison, Row } from './comparison.ts';
import type { Figure, Suite } from './suite.ts';
import type { Verdict } from './targets.ts';

/**
 * Plots as SVG text. Drawn by Vega-Lite: a plot is data plus a description of it, typed, and Vega renders that in Node
 * as it stands; there is no browser to download, no DOM to imitate, and the report holds pictures and no script, so that
 * it opens anywhere and fetches nothing. (Observable Plot is as good at plots and needs a DOM of three times its own
 * size; uPlot and Chart.js draw only when the file is opened.)
 */
async function draw(spec: TopLevelSpec): Promise<string> {
  const view = new vega.View(vega.parse(compile(spec).spec), { renderer: 'none' });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

const font = 'system-ui, sans-serif';
const config = {
  font,
  background: 'white',
  axis: { labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', grid: true, labelLimit: 260 },
  legend: { labelFontSize: 11, titleFontSize: 11 },
  title: { fontSize: 12, fontWeight: 'normal', anchor: 'start' },
} as const;

const schema = 'https://vega.github.io/schema/vega-lite/v6.json';

/** The plots of a suite: one for each figure, or one line per subject where the suite's parts are sizes. */
export async function suitePlots(suite: Suite, comparison: Comparison): Promise<string[]> {
  if (suite.parts !== undefined) return [await draw(growthPlot(suite, comparison))];
  const figures = suite.figures.filter(({ key }) => comparison.rows.some((row) => row.figure === key && hasSize(row)));
  return Promise.all(figures.map((figure) => draw(barPlot(suite, figure, comparison))));
}

const hasSize = ({ value }: Row): boolean => value.most !== 0 || value.least !== 0;

/** Medians as bars, least to most as a line over each. */
function barPlot(suite: Suite, { key, title, unit }: Figure, comparison: Comparison): TopLevelSpec {
  const values = comparison.rows
    .filter((row) => row.figure === key)
    .map(({ subject, value }) => ({ subject, ...value, isBase: subject === suite.base }));
  const order = suite.subjects.map(({ name }) => name);
  return {
    $schema: schema,
    config,
    title,
    width: 420,
    height: { step: 20 },
    data: { values },
    encoding: { y: { field: 'subject', type: 'nominal', sort: order, title: null } },
    layer: [
      {
        mark: { type: 'bar', height: 13 },
        encoding: {
          x: { field: 'median', type: 'quantitative', title: unit },
          color: {
            field: 'isBase',
            type: 'nominal',
            legend: null,
            scale: { domain: [true, false], range: ['#9aa5b1', '#3b7dd8'] },
          },
        },
      },
      {
        mark: { type: 'rule', strokeWidth: 1.5, color: '#1c2733' },
        encoding: { x: { field: 'least', type: 'quantitative' }, x2: { field: 'most' } },
      },
    ],
  };
}

/** How the cost grows with the size of each part. */
function growthPlot(suite: Suite, comparison: Comparison): TopLevelSpec {
  const parts = suite.parts ?? [];
  const values = comparison.rows
    .filter((row) => parts.includes(row.figure))
    .map(({ subject, figure, value }) => ({ subject, size: Number(figure.replaceAll(',', '')), ...value }));
  const unit = suite.figures[0].unit;
  const encoding = {
    x: { field: 'size', type: 'quantitative', scale: { type: 'log' }, title: 'live timers' },
    color: { field: 'subject', type: 'nominal', sort: suite.subjects.map(({ name }) => name), title: null },
  } as const;
  return {
    $schema: schema,
    config,
    title: `${suite.figures[0].title.split(' ')[0]}, ${unit}`,
    width: 560,
    height: 320,
    data: { values },
    encoding,
    layer: [
      {
        mark: { type: 'line', point: true },
        encoding: { y: { field: 'median', type: 'quantitative', scale: { type: 'log' }, title: unit } },
      },
      {
        mark: { type: 'rule', opacity: 0.6 },
        encoding: { y: { field: 'least', type: 'quantitative' }, y2: { field: 'most' } },
      },
    ],
  };
}

/** Every target as the share of its bound that is used: left of 1 is met. */
export function targetsPlot(verdicts: readonly Verdict[]): Promise<string> {
  const values = verdicts.flatMap(({ target, measured, state }) => {
    if (measured === undefined || target.most === 0 || measured.least <= 0) return [];
    const { least, median, most } = measured;
    return [
      {
        title: target.title,
        least: least / target.most,
        median: median / target.most,
        most: most / target.most,
        state,
      },
    ];
  });
  const title = { field: 'title', type: 'nominal', sort: null, title: null, axis: { labelLimit: 340 } } as const;
  const share = { type: 'quantitative', scale: { type: 'log' } } as const;
  return draw({
    $schema: schema,
    config,
    width: 520,
    height: { step: 18 },
    data: { values },
    layer: [
      {
        mark: { type: 'rule', strokeWidth: 1.5 },
        encoding: {
          y: title,
          x: { field: 'least', ...share, title: 'measured / target (1 = the target)' },
          x2: { field: 'most' },
        },
      },
      {
        mark: { type: 'point', filled: true, size: 60, opacity: 1 },
        encoding: {
          y: title,
          x: { field: 'median', ...share },
          color: {
            field: 'state',
            type: 'nominal',
            title: null,
            scale: { domain: ['met', 'NOT MET'], range: ['#2e8b57', '#c0392b'] },
          },
        },
      },
      { mark: { type: 'rule', strokeDash: [4, 3] }, encoding: { x: { datum: 1, type: 'quantitative' } } },
    ],
  });
}
