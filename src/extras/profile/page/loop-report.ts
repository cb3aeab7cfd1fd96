import { make } from '../../dashboard/page/elements.ts';
import { compact, count, percent, timeText } from '../../dashboard/page/format.ts';
import { type Column, Table } from '../../dashboard/page/table.ts';
import type { DelayCounts, SeriesPoint, SiteCounts, TimerCounts } from '../profile-data.ts';
import type { Calibration, LoopReport } from '../report-data.ts';
import { plotPanel } from './plot-panel.ts';

const events = ['created', 'cleared', 'refreshed', 'fired'] as const;
const seconds = (value: number): string => `${Number(value.toFixed(1))} s`;

/** Everything about one event loop. */
export function loopReport(loop: LoopReport, calibration: Calibration | undefined): HTMLElement[] {
  const { data } = loop;
  const plots = data.series.length > 1 ? timePlots(data.series) : [];
  return [
    tiles(loop),
    make(
      'div',
      { class: 'panels' },
      ...plots,
      delaysPlot(loop),
      latenessPlot(loop),
      sitesPanel(data.sites, data.siteSamples),
      delaysPanel(data.delays, data.differentDelays),
      ...(calibration === undefined ? [] : [costsPanel(calibration)]),
    ),
  ];
}

function tiles({ data, estimate }: LoopReport): HTMLElement {
  const { busy, early, internal, lateness, needlessClears, passes, peak, seconds: recorded, totals } = data;
  const { longest } = passes;
  const shown: [title: string, value: string, more: string][] = [
    ...events.map((event): [string, string, string] => [event, count(totals[event]), '']),
    ['live at most', count(peak.live), `after ${seconds(peak.at)}; ${count(data.live)} at the end`],
    ['event loop busy', percent(busy / (recorded * 1000)), `of ${seconds(recorded)}`],
    ...(estimate === undefined
      ? []
      : ([
          [
            'timers take',
            percent(estimate.calls + estimate.firing),
            `of its busy time; with shardwheel about ${percent(estimate.withShardwheel)}`,
          ],
        ] as [string, string, string][])),
    ['longest pass', timeText(longest.milliseconds), `${count(longest.fired)} callbacks, after ${seconds(longest.at)}`],
    ['late by, p99', timeText(lateness.p99), `p50 ${timeText(lateness.p50)}, at most ${timeText(lateness.max)}`],
    ['early', early.sampled === 0 ? '–' : percent(early.early / early.sampled), `of ${count(early.sampled)} sampled`],
    ['cleared in vain', count(needlessClears), 'had fired, or were cleared'],
    ["Node's own parts", count(internal.created), `created, ${count(internal.refreshed)} refreshed, not counted above`],
  ];
  return make(
    'dl',
    { class: 'tiles' },
    ...shown.map(([title, value, more]) =>
      make('div', {}, make('dt', {}, title), make('dd', {}, value, ...(more === '' ? [] : [make('small', {}, more)]))),
    ),
  );
}

function timePlots(series: readonly SeriesPoint[]): HTMLElement[] {
  const along = { values: series.map(({ at }) => at), text: seconds, name: 'after' };
  /** Per second, from each point to the next. */
  const rate = (value: (point: SeriesPoint) => number): number[] =>
    series.map((point, at) => {
      const before = at === 0 ? { at: 0, value: 0 } : { at: series[at - 1].at, value: value(series[at - 1]) };
      return (value(point) - before.value) / Math.max(1e-3, point.at - before.at);
    });
  return [
    plotPanel({
      title: 'Live timers',
      along,
      text: compact,
      series: [{ name: 'live', colour: 'created', values: series.map(({ live }) => live) }],
    }),
    plotPanel({
      title: 'Timers per second',
      along,
      text: compact,
      series: events.map((event) => ({ name: event, colour: event, values: rate((point) => point[event]) })),
    }),
    plotPanel({
      title: 'Longest pass: callbacks that ran without I/O between them',
      along,
      text: timeText,
      series: [{ name: 'ms', colour: 'fired', values: series.map(({ pass }) => pass) }],
    }),
    plotPanel({
      title: 'Event loop busy',
      along,
      text: percent,
      series: [{ name: 'share', colour: 'refreshed', values: rate(({ busy }) => busy / 1000) }],
    }),
  ];
}

function delaysPlot({ data: { buckets } }: LoopReport): HTMLElement {
  const used = buckets.filter(({ created, fired }) => created + fired > 0);
  return plotPanel({
    title: 'By delay, from each on',
    along: { values: used.map(({ from }) => from), text: timeText, name: 'delay' },
    text: compact,
    isBars: true,
    series: [{ name: 'created', colour: 'created', values: used.map(({ created }) => created) }],
  });
}

function latenessPlot({ data: { latenessBuckets } }: LoopReport): HTMLElement {
  const last = latenessBuckets.findLastIndex((each) => each > 0);
  const shown = latenessBuckets.slice(0, Math.max(0, last) + 1);
  return plotPanel({
    title: 'Late by less than',
    along: { values: shown.map((_, power) => 2 ** power), text: timeText, name: 'less than' },
    text: compact,
    isBars: true,
    series: [{ name: 'fired', colour: 'fired', values: shown }],
  });
}

function panelOf<Row>(title: string, columns: readonly Column<Row>[], rows: readonly Row[], note: string): HTMLElement {
  const scroll = make('div', { class: 'scroll' });
  new Table<Row>(scroll, title, columns, 'None.').show(rows);
  const notes = note === '' ? [] : [make('p', { class: 'muted' }, note)];
  return make('section', { class: 'panel wide' }, make('h2', {}, title), scroll, ...notes);
}

const countColumns = <Row extends TimerCounts>(): Column<Row>[] =>
  events.map((event) => ({ title: event, text: (row: Row) => count(row[event]) }));

function placeOf({ from, name, site }: SiteCounts): string {
  const place = name === '' ? site : `${site} ${name}`;
  return from === '' ? place : `${place}\nfrom ${from}`;
}

function sitesPanel(sites: readonly SiteCounts[], samples: number): HTMLElement {
  const columns: Column<SiteCounts>[] = [
    {
      title: 'place',
      isText: true,
      isLong: true,
      text: placeOf,
    },
    { title: 'mostly', text: ({ delay }) => timeText(delay) },
    ...countColumns<SiteCounts>(),
  ];
  return panelOf('Who sets them', columns, sites, `From ${count(samples)} samples, scaled to the exact totals.`);
}

function delaysPanel(delays: readonly DelayCounts[], different: number): HTMLElement {
  const columns: Column<DelayCounts>[] = [
    { title: 'delay', text: ({ delay }) => timeText(delay) },
    ...countColumns<DelayCounts>(),
  ];
  const note = different > delays.length ? `The commonest of ${count(different)}.` : '';
  return panelOf('Delays', columns, delays, note);
}

function costsPanel({ live, node, shardwheel }: Calibration): HTMLElement {
  const nanoseconds = (value: number): string => `${count(value)} ns`;
  const rows = (
    [
      ['set, and clear at once', 'young'],
      ['set, and clear later', 'old'],
      ['refresh', 'refresh'],
      ['fire', 'fire'],
    ] as const
  ).map(([title, key]) => ({ title, node: node[key], shardwheel: shardwheel[key] }));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { title: '', text: ({ title }) => title },
    { title: "Node's timers", text: (row) => nanoseconds(row.node) },
    { title: 'shardwheel', text: (row) => nanoseconds(row.shardwheel) },
  ];
  return panelOf(
    'What timers cost on this machine',
    columns,
    rows,
    `Measured after the program, with ${count(live)} live.`,
  );
}
