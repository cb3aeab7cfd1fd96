import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { comparisonOf } from '../../engine/figures.ts';
import { describeMachine, type Results } from '../../engine/results.ts';
import { nodeRatio } from './node-ratio.ts';
import { DROP_IN, INLINE, NODE, REGISTERED, SHARD } from './rate-subjects.ts';
import { ratedLoads, rateSuiteName } from './rate-suites.ts';
import type { RateTask } from './rate-task.ts';

/** The colours of a page that it is shown on. */
const palettes = {
  light: { text: '#1f2328', faint: '#d1d9e0', colours: ['#0072b2', '#b54708', '#007a55', '#8a3ffc'] },
  dark: { text: '#f0f6fc', faint: '#3d444d', colours: ['#56b4e9', '#f5a05a', '#3fc79a', '#be95ff'] },
} as const;

type Theme = keyof typeof palettes;

export const themes: readonly Theme[] = ['light', 'dark'];

/** A line each, in the order of the colours; told apart by their symbols as well. */
const lines = [INLINE, SHARD, DROP_IN, REGISTERED];
const symbols = ['circle', 'square', 'triangle', 'diamond'] as const;

interface Panel {
  readonly load: RateTask['load'];
  /** Key of its figure. */
  readonly figure: string;
  readonly title: string;
  readonly unit: string;
}

const panels: readonly Panel[] = [
  { load: 'fires', figure: 'loop, cold', title: 'Timers that fire, from a cold start', unit: 'fires per second' },
  { load: 'fires', figure: 'loop, warm', title: 'Timers that fire, warm', unit: 'fires per second' },
  { load: 'pairs', figure: 'whole', title: 'Timeouts that are cancelled, with their driver', unit: 'pairs per second' },
  { load: 'replay', figure: 'loop', title: 'The replay: four timers a connection', unit: 'connections per second' },
];

interface Point {
  readonly rate: number;
  readonly subject: string;
  /** Of Node's: median, least and most. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
}

const [WIDTH, HEIGHT, COLUMNS] = [420, 260, 2];
const [TITLE, LEGEND] = [26, 30];
const FONT = 'font-family="system-ui, sans-serif"';
/** What is beyond these is drawn there. */
const [LOWEST, HIGHEST] = [0.1, 10];
const TICKS = [LOWEST, 0.2, 0.5, 1, 2, 5, HIGHEST];

const within = (ratio: number): number => Math.min(HIGHEST, Math.max(LOWEST, ratio));

/** What was measured, where there is a ratio. */
function pointsOf(results: Results, { load, figure }: Panel): Point[] {
  const { rates = [] } = ratedLoads.find((one) => one.load === load) ?? {};
  return rates.flatMap((rate) => {
    const comparison = comparisonOf(results, rateSuiteName(load, rate));
    return lines.flatMap((subject) => {
      const ratio = nodeRatio(comparison, subject, figure);
      if (ratio === undefined || ratio.median <= 0) return [];
      const { median, least, most } = ratio;
      return [{ rate, subject, ratio: median, least, most }];
    });
  });
}

type HtmlDocument = ReturnType<typeof parseHTML>['document'];

/** The panel number `at`, in its place. */
function panelOf(document: HtmlDocument, results: Results, at: number, theme: Theme): string {
  const { title, unit } = panels[at];
  const points = pointsOf(results, panels[at]);
  const [x, y] = [(at % COLUMNS) * WIDTH, TITLE + LEGEND + Math.floor(at / COLUMNS) * HEIGHT];
  const { text, faint, colours } = palettes[theme];
  const channels = { x: 'rate', y: ({ ratio }: Point) => within(ratio), z: 'subject', stroke: 'subject' };
  const plot = Plot.plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    marginTop: 34,
    marginLeft: 48,
    marginRight: 28,
    style: { background: 'none', color: text },
    x: { type: 'log', label: unit, domain: [10, 100_000], ticks: [10, 100, 1000, 10_000, 100_000], tickFormat: ',' },
    y: {
      type: 'log',
      label: null,
      domain: [LOWEST, HIGHEST],
      ticks: TICKS,
      tickFormat: (ratio: number) => String(ratio),
    },
    color: { domain: lines, range: [...colours] },
    symbol: { domain: lines, range: [...symbols] },
    marks: [
      Plot.gridY(TICKS, { stroke: faint, strokeOpacity: 1 }),
      Plot.ruleY([1], { stroke: text, strokeWidth: 1.5, strokeDasharray: '4 3' }),
      Plot.ruleX(points, {
        x: 'rate',
        y1: ({ least }: Point) => within(least),
        y2: ({ most }: Point) => within(most),
        stroke: 'subject',
        strokeOpacity: 0.45,
      }),
      Plot.line(points, { ...channels, strokeWidth: 2 }),
      Plot.dot(points, { ...channels, symbol: 'subject', fill: 'subject', r: 3.5 }),
    ],
  });
  const heading = `<text x="${x + 8}" y="${y + 16}" ${FONT} font-size="13" font-weight="600" fill="${text}">${title}</text>`;
  return `${heading}\n${plot.outerHTML.replace('<svg ', `<svg x="${x}" y="${y}" `)}`;
}

function legendOf(theme: Theme): string {
  const { text, colours } = palettes[theme];
  const entries = [`${NODE} = 1`, ...lines].map((name, at) => {
    const x = 48 + at * 150;
    const colour = at === 0 ? text : colours[at - 1];
    const dashes = at === 0 ? ' stroke-dasharray="4 3"' : '';
    const line = `<path d="M${x} 0h26" stroke="${colour}" stroke-width="2"${dashes}/>`;
    return `${line}<text x="${x + 32}" y="4" ${FONT} font-size="12" fill="${text}">${name}</text>`;
  });
  return `<g transform="translate(0 ${TITLE + LEGEND / 2})">${entries.join('')}</g>`;
}

/** What the plot shows, for those who do not see it. */
function describeRates(results: Results): string {
  const told = panels.map((panel) => {
    const points = pointsOf(results, panel);
    const ofLine = lines.flatMap((subject) => {
      const own = points.filter((point) => point.subject === subject);
      if (own.length === 0) return [];
      const values = own.map(({ rate, ratio }) => `${ratio.toFixed(2)} at ${rate.toLocaleString('en-US')}`);
      return [`${subject} ${values.join(', ')}`];
    });
    return `${panel.title}, by ${panel.unit}: ${ofLine.join('; ')}.`;
  });
  return [
    `Event-loop CPU per operation, of what ${NODE} take, against the rate; both axes are logarithmic.`,
    ...told,
    `Values beyond ${LOWEST} and ${HIGHEST} are drawn at those.`,
  ].join(' ');
}

/** Cost per operation, of Node's own, against the rate: a picture of a panel for each load. */
export function ratePlot(results: Results, theme: Theme): string {
  const { document } = parseHTML('<!doctype html><html></html>');
  const { rounds, machine } = results;
  const { text } = palettes[theme];
  const drawn = panels.map((_, at) => panelOf(document, results, at, theme));
  const size = [WIDTH * COLUMNS, TITLE + LEGEND + (HEIGHT * panels.length) / COLUMNS];
  const under = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${describeMachine(machine)}`;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" viewBox="0 0 ${size.join(' ')}" role="img">`,
    `<title>Cost per timer operation, of ${NODE}, against the rate</title>`,
    `<desc>${describeRates(results)}</desc>`,
    `<text x="8" y="18" ${FONT} font-size="12" fill="${text}">Event-loop CPU per operation, of ${NODE}. ${under}</text>`,
    legendOf(theme),
    ...drawn,
    '</svg>',
  ];
  // So many digits are no figures, and the last of them not those of every release of Node.
  return `${lines.join('\n').replace(/-?\d+\.\d{3,}/g, (digits) => String(Number(Number(digits).toFixed(2))))}\n`;
}
