import plotStyle from 'uplot/dist/uPlot.min.css';
import baseStyle from '../../dashboard/page/base.css';
import { byId, make } from '../../dashboard/page/elements.ts';
import { count } from '../../dashboard/page/format.ts';
import type { LoopReport, ReportData } from '../report-data.ts';
import { loopReport } from './loop-report.ts';
import ownStyle from './style.css';

const report: ReportData = JSON.parse(byId('data').textContent ?? '');
const { calibration, command, date, end, limits, loops, machine } = report;

function nameOf({ data: { process, totals } }: LoopReport): string {
  const worker = process.thread === 0 ? '' : `, worker ${process.thread}`;
  return `${process.title}, process ${process.pid}${worker}: ${count(totals.created)} created`;
}

const body = make('div');
const headline = make('h1');
const reason = make('p');

function show(loop: LoopReport): void {
  headline.textContent = loop.verdict.headline;
  reason.textContent = loop.verdict.reason;
  body.replaceChildren(...loopReport(loop, calibration));
}

function chooser(): HTMLElement[] {
  if (loops.length < 2) return [];
  const select = make('select', {}, ...loops.map((loop, at) => make('option', { value: String(at) }, nameOf(loop))));
  select.addEventListener('change', () => show(loops[Number(select.value)]));
  return [make('label', {}, 'Event loop: ', select)];
}

document.head.append(make('style', {}, `${plotStyle}\n${baseStyle}\n${ownStyle}`));
const [{ data }] = loops;
const when = new Date(date).toLocaleString();
byId('report').append(
  make(
    'header',
    {},
    headline,
    reason,
    make('p', { class: 'muted' }, end === '' ? command : `${command}: ${end}`),
    make('p', { class: 'muted' }, `${when}, Node ${data.process.node}, ${machine}`),
    ...chooser(),
  ),
  body,
  make(
    'section',
    { class: 'panel' },
    make('h2', {}, 'What this leaves out'),
    make('ul', { class: 'limits' }, ...limits.map((limit) => make('li', {}, limit))),
  ),
);
show(loops[0]);
