import { cleared, make, setAttribute, setText } from './elements.ts';
import { compact, count, timeText } from './format.ts';
import type { ShardView } from './model.ts';
import { Table } from './table.ts';
import { colours, shades } from './theme.ts';

type LevelView = ShardView['levels'][number];

const SIZE = 288;
const OUTER = 140;
const INNER = 46;
const GAP = 4;
const TURN = 2 * Math.PI;

/** The shade of so many entries, where `most` has the last. */
const shadeOf = (entries: number, most: number): number =>
  most <= 1 ? shades.length - 1 : Math.round((Math.log(entries) / Math.log(most)) * (shades.length - 1));

/** The most entries of an arc. */
export const mostIn = (shards: readonly ShardView[]): number =>
  shards.reduce((most, { levels }) => ringsOf(levels).reduce((most, { arcs }) => Math.max(most, ...arcs), most), 0);

/** Levels with more than one slot; the list for what lies beyond them has one. */
const ringsOf = (levels: readonly LevelView[]): LevelView[] => levels.filter(({ slots }) => slots > 1);

interface LevelRow extends LevelView {
  readonly name: string;
}

/** A shard's wheel: a canvas with a ring per level, and its numbers as a table. */
export class Dial {
  readonly element: HTMLElement;
  private readonly canvas = make('canvas', { role: 'img', width: `${SIZE}`, height: `${SIZE}` });
  private readonly title = make('h3');
  private readonly note = make('p', { class: 'hint' });
  private readonly table: Table<LevelRow>;

  constructor() {
    const facts = make('div', { class: 'facts scroll' }, this.title);
    this.element = make('div', { class: 'dial' }, this.canvas, facts);
    this.table = new Table<LevelRow>(
      facts,
      'Levels of the wheel',
      [
        { title: 'Level', text: ({ name }) => name },
        { title: 'Slot', text: ({ slots, slotTime }) => (slots > 1 ? timeText(slotTime) : '') },
        { title: 'One turn', text: ({ slots, slotTime }) => (slots > 1 ? timeText(slots * slotTime) : '') },
        {
          title: 'Slots in use',
          text: ({ occupied, slots }) => (slots > 1 ? `${count(occupied)} of ${count(slots)}` : ''),
        },
        { title: 'Entries', text: ({ entries }) => count(entries) },
      ],
      'No shard serves this wheel at the moment.',
    );
    facts.append(this.note);
  }

  /** `most`: the entries that have the strongest shade. */
  show(shard: ShardView, most: number): void {
    const { levels } = shard;
    const entries = levels.reduce((sum, level) => sum + level.entries, 0);
    setText(this.title, `Shard ${shard.shard}`);
    setAttribute(this.title, 'data-shard', `${shard.shard}`);
    this.table.show(levels.map((level, number) => ({ ...level, name: level.slots > 1 ? `${number}` : 'beyond' })));
    setText(
      this.note,
      `${count(entries)} entries for ${count(shard.filed)} timers that are filed: what was cancelled or moved leaves its entry behind until its slot is read, or compacted.`,
    );
    setAttribute(
      this.canvas,
      'aria-label',
      `Wheel of shard ${shard.shard}: ${count(entries)} entries. The table has its levels.`,
    );
    this.draw(ringsOf(levels), shard.size, most);
  }

  private draw(rings: readonly LevelView[], live: number, most: number): void {
    const context = cleared(this.canvas, SIZE, SIZE);
    context.translate(SIZE / 2, SIZE / 2);
    const width = Math.min(24, (OUTER - INNER - GAP * Math.max(0, rings.length - 1)) / Math.max(1, rings.length));
    for (const [number, ring] of rings.entries()) {
      drawRing(context, ring, OUTER - width / 2 - number * (width + GAP), width, most);
    }
    context.textAlign = 'center';
    context.fillStyle = colours.text;
    context.font = '600 19px system-ui, sans-serif';
    context.fillText(compact(live), 0, 3);
    context.fillStyle = colours.muted;
    context.font = '11px system-ui, sans-serif';
    context.fillText('live', 0, 19);
  }
}

/** Slot 0 is at the top; time goes clockwise. */
const angleOf = (share: number): number => share * TURN - TURN / 4;

function drawRing(
  context: CanvasRenderingContext2D,
  { arcs, hand, slots }: LevelView,
  radius: number,
  width: number,
  most: number,
): void {
  context.lineWidth = width;
  context.strokeStyle = colours.track;
  context.beginPath();
  context.arc(0, 0, radius, 0, TURN);
  context.stroke();
  // One path for each shade: a stroke for each arc would cost most of the drawing.
  const paths = new Map<number, Path2D>();
  for (const [arc, entries] of arcs.entries()) {
    if (entries === 0) continue;
    const shade = shadeOf(entries, most);
    let path = paths.get(shade);
    if (path === undefined) {
      path = new Path2D();
      paths.set(shade, path);
    }
    const from = angleOf(arc / arcs.length);
    path.moveTo(radius * Math.cos(from), radius * Math.sin(from));
    path.arc(0, 0, radius, from, angleOf((arc + 1) / arcs.length));
  }
  for (const [shade, path] of paths) {
    context.strokeStyle = shades[shade];
    context.stroke(path);
  }
  const angle = angleOf((hand + 0.5) / slots);
  const [x, y] = [Math.cos(angle), Math.sin(angle)];
  const [inside, outside] = [radius - width / 2 - 2, radius + width / 2 + 2];
  context.lineWidth = 2;
  context.strokeStyle = colours.hand;
  context.beginPath();
  context.moveTo(inside * x, inside * y);
  context.lineTo(outside * x, outside * y);
  context.stroke();
}
