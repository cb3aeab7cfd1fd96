import { type Comparison, withAbsent } from './comparison.ts';
import { figure, withSpread } from './format.ts';
import { suitePlots, targetsPlot } from './plots.ts';
import { describeMachine, type Results } from './results.ts';
import type { Suite } from './suite.ts';
import type { Verdict } from './targets.ts';

const style = `
  body { font: 14px/1.5 system-ui, sans-serif; color: #1c2733; background: white; max-width: 70em; margin: 2em auto; padding: 0 1em; }
  h1 { font-size: 1.6em } h2 { font-size: 1.2em; margin: 2.5em 0 .3em } p { margin: .3em 0 }
  table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums }
  th, td { border-bottom: 1px solid #d5dbe1; padding: .25em .8em .25em 0; text-align: right; vertical-align: top; font-weight: normal }
  th:first-child, td:first-child { text-align: left } th { color: #52606d }
  small { color: #52606d } .met { color: #2e8b57 } .missed { color: #c0392b; font-weight: bold }
  svg { max-width: 100%; height: auto; margin: .5em 1.5em .5em 0; vertical-align: top }`;

/** The results as one HTML file that needs nothing else: tables and drawn plots. */
export async function renderReport(results: Results, suites: readonly Suite[]): Promise<string> {
  const { command, comparisons, date, machine, targets, quick, rounds, seconds } = results;
  const sections: string[] = [];
  for (const comparison of comparisons) {
    const suite = suites.find(({ name }) => name === comparison.suite);
    if (suite !== undefined) sections.push(await suiteSection(suite, comparison));
  }
  const judged = targets.length === 0 ? '' : `<h2>Targets</h2>${await targetsPlot(targets)}${targetsRows(targets)}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>shardwheel bench</title><style>${style}</style></head>
<body>
<h1>shardwheel bench</h1>
<p><code>${escaped(command)}</code>, ${escaped(date.slice(0, 16).replace('T', ' '))} UTC, ${seconds} s</p>
<p>${escaped(describeMachine(machine))}</p>
<p>Medians of ${rounds} interleaved rounds, with least and most; × is the ratio to the base within the same round.</p>
${quick ? '<p class="missed">A quick run: the sizes are too small for the figures to mean anything.</p>' : ''}
${judged}
${sections.join('\n')}
</body>
</html>
`;
}

async function suiteSection(suite: Suite, comparison: Comparison): Promise<string> {
  const plots = await suitePlots(suite, comparison);
  const head = suite.figures.map(({ title, unit }) => `<th>${escaped(title)}<br><small>${escaped(unit)}</small></th>`);
  const lines = withAbsent(suite, comparison).map(({ name, note, absent }) => {
    const title = `${escaped(name)}${note === undefined ? '' : `<br><small>${escaped(note)}</small>`}`;
    if (absent !== undefined) {
      return `<tr><td>${title}</td><td colspan="${head.length}">not measured: ${escaped(absent)}</td></tr>`;
    }
    const cells = suite.figures.map(({ key }) => `<td>${cell(comparison, name, key)}</td>`);
    return `<tr><td>${title}</td>${cells.join('')}</tr>`;
  });
  return `<h2>${escaped(suite.title)}</h2><p>${escaped(suite.about)}</p>
${plots.join('\n')}
<table><tr><th>× = ${escaped(suite.base)}</th>${head.join('')}</tr>
${lines.join('\n')}</table>`;
}

function cell(comparison: Comparison, subject: string, key: string): string {
  const row = comparison.rows.find((one) => one.subject === subject && one.figure === key);
  if (row === undefined) return '–';
  return escaped(withSpread(row.value)) + (row.ratio === undefined ? '' : `<br>× ${escaped(withSpread(row.ratio))}`);
}

function targetsRows(targets: readonly Verdict[]): string {
  const lines = targets.map(({ target, measured, state }) => {
    const most = figure(target.most) + (target.unit === '' ? '×' : ` ${target.unit}`);
    const shown = measured === undefined ? '–' : withSpread(measured);
    const css = state === 'met' ? 'met' : 'missed';
    return `<tr><td>${escaped(target.title)}<br><small>${escaped(target.of)}</small></td><td>${escaped(most)}</td><td>${escaped(shown)}</td><td class="${css}">${state}</td></tr>`;
  });
  return `<table><tr><th>target</th><th>at most</th><th>measured</th><th></th></tr>${lines.join('\n')}</table>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
