import type { Markish, PlotOptions } from '@observablehq/plot';
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { describeProcessor, type Results } from '../engine/results.ts';
import { colourOf, nameOf, type Palette, palettes, symbolOf, type Theme } from './themes.ts';

/** A chart of a picture, with a heading of its own. */
export interface Panel {
  readonly title: string;
  readonly options: PlotOptions;
  readonly marks: readonly Markish[];
}

export interface Picture {
  /** What is shown, in one line; the title for who does not see it. */
  readonly title: string;
  /** What it means, in a second line. */
  readonly subtitle: string;
  /** The values, for who does not see them. */
  readonly description: string;
  /** How it was measured. */
  readonly caption: string;
  /** Those of the legend, in order. */
  readonly subjects: readonly string[];
  readonly panels: readonly Panel[];
  readonly columns: number;
  readonly panelHeight: number;
}

const WIDTH = 840;
const FONT = 'ui-sans-serif, system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif';
/** Rows above and below the panels, by their heights. */
const [HEAD, LEGEND, HEADING, FOOT] = [46, 28, 22, 24];

/** Draws a picture: headlines, a legend, panels in columns, a caption. */
export function framedPicture(picture: Picture, theme: Theme): string {
  const { title, subtitle, description, caption, subjects, panels, columns, panelHeight } = picture;
  const { text, quiet } = palettes[theme];
  const { document } = parseHTML('<!doctype html><html></html>');
  const width = WIDTH / columns;
  const top = HEAD + (subjects.length === 0 ? 0 : LEGEND);
  const drawn = panels.map((panel, at) => {
    const [x, y] = [(at % columns) * width, top + Math.floor(at / columns) * (panelHeight + HEADING)];
    const heading = line(x + 4, y + 14, 13, text, panel.title, 600);
    const plot = Plot.plot({
      document,
      width,
      height: panelHeight,
      marginTop: 12,
      marginBottom: 36,
      marginLeft: 46,
      marginRight: 18,
      style: { background: 'none', color: quiet, fontFamily: FONT, fontSize: '11px' },
      ...panel.options,
      marks: [...panel.marks],
    });
    const placed = plot.outerHTML.replace('<svg ', `<svg x="${x}" y="${y + HEADING - 4}" `);
    return `${heading}\n${placed}`;
  });
  const height = top + Math.ceil(panels.length / columns) * (panelHeight + HEADING) + FOOT;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="${FONT}">`,
    `<title>${title}</title>`,
    `<desc>${description}</desc>`,
    line(4, 17, 15, text, title, 600),
    line(4, 36, 12.5, quiet, subtitle),
    legendOf(subjects, theme),
    ...drawn,
    line(4, height - 8, 11, quiet, caption),
    '</svg>',
  ].filter((each) => each !== '');
  // So many digits are no figures, and the last of them not those of every release of Node.
  return `${lines.join('\n').replace(/-?\d+\.\d{3,}/g, (digits) => String(Number(Number(digits).toFixed(2))))}\n`;
}

/** A run in a line: what of its rounds is shown, day, release, machine. */
export function describeRun({ rounds, date, machine, remark }: Results, shown = 'Medians'): string {
  const of = rounds === 1 ? 'One round' : `${shown} of ${rounds} rounds`;
  const said = `${of}, ${date.slice(0, 10)}. Node ${machine.node.slice(1)}, ${describeProcessor(machine)}.`;
  return remark === undefined ? said : `${said} ${remark}`;
}

/** A legend's mark on its own: the line and the symbol that the panels have. */
function legendOf(subjects: readonly string[], theme: Theme): string {
  if (subjects.length === 0) return '';
  const { text } = palettes[theme];
  let x = 4;
  const entries = subjects.map((subject) => {
    const colour = colourOf[theme][subject];
    const mark = `<path d="M${x} 0h24" stroke="${colour}" stroke-width="2"/>${symbolAt(subject, x + 12, colour)}`;
    const entry = `${mark}<text x="${x + 31}" y="4" font-size="12.5" fill="${text}">${nameOf[subject]}</text>`;
    x += 56 + nameOf[subject].length * 6.6;
    return entry;
  });
  return `<g transform="translate(0 ${HEAD + 10})">${entries.join('')}</g>`;
}

const shapes: Readonly<Record<string, string>> = {
  circle: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0',
  square: 'M-3.6 -3.6h7.2v7.2h-7.2z',
  triangle: 'M0 -4.6L4.4 3.4H-4.4z',
  diamond: 'M0 -5L4 0L0 5L-4 0z',
  cross: 'M-4.5 -1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z',
};

const symbolAt = (subject: string, x: number, colour: string): string =>
  `<path d="${shapes[symbolOf[subject]]}" transform="translate(${x} 0)" fill="${colour}"/>`;

const line = (x: number, y: number, size: number, fill: string, text: string, weight = 400): string =>
  `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}">${text}</text>`;

/** Words within a panel: what is above, or below, a line that matters. */
export const note = (palette: Palette, text: string, place: { x: number; y: number }, anchor: 'start' | 'end') =>
  Plot.text([text], { ...{ x: place.x, y: place.y }, textAnchor: anchor, fill: palette.quiet, fontStyle: 'italic' });

/** The scales that give each subject its colour and its symbol. */
export const subjectScales = (subjects: readonly string[], theme: Theme): Pick<PlotOptions, 'color' | 'symbol'> => ({
  color: { domain: subjects, range: subjects.map((subject) => colourOf[theme][subject]) },
  symbol: { domain: subjects, range: subjects.map((subject) => symbolOf[subject]) },
});
