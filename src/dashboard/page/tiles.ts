import type { Sample } from '../messages.ts';
import { byId, make, setText } from './elements.ts';
import { count, percent, size, sizeText, time, timeText } from './format.ts';

interface Tile {
  readonly name: string;
  readonly title: string;
  readonly value: (sample: Sample) => readonly [value: string, unit?: string];
  readonly note: (sample: Sample) => string;
}

const unknown = '–';

const perSecond = (rate: number | undefined): [string, string] => [rate === undefined ? unknown : count(rate), '/s'];

const tiles: readonly Tile[] = [
  {
    name: 'live',
    title: 'Live timers',
    value: ({ size }) => [count(size)],
    note: ({ capacity, size }) => `${percent(size / capacity)} of ${count(capacity)}`,
  },
  {
    name: 'scheduled',
    title: 'Scheduled',
    value: ({ rates }) => perSecond(rates?.scheduled),
    note: ({ counts }) => `${count(counts.scheduled)} in all`,
  },
  {
    name: 'moved',
    title: 'Moved',
    value: ({ rates }) => perSecond(rates?.moved),
    note: ({ counts }) => `${count(counts.moved)} in all`,
  },
  {
    name: 'cancelled',
    title: 'Cancelled',
    value: ({ rates }) => perSecond(rates?.cancelled),
    note: ({ counts }) => `${count(counts.cancelled)} in all`,
  },
  {
    name: 'delivered',
    title: 'Delivered',
    value: ({ rates }) => perSecond(rates?.delivered),
    note: ({ counts }) => `${count(counts.delivered)} in all`,
  },
  {
    name: 'late',
    title: 'Late now (99 %)',
    value: ({ lateness: { now } }) => (now === undefined || now.count === 0 ? [unknown, 'ms'] : time(now.p99)),
    note: ({ lateness: { run } }) => (run.count === 0 ? 'nothing delivered yet' : `${timeText(run.p99)} over the run`),
  },
  {
    name: 'resident',
    title: 'Resident memory',
    value: ({ memory }) => size(memory.resident),
    note: ({ memory }) => `${sizeText(memory.timers)} for timers`,
  },
  {
    name: 'loop',
    title: 'Event loop busy',
    value: ({ cpu }) => (cpu === undefined ? [unknown, '%'] : [(cpu.loop * 100).toFixed(1), '%']),
    note: ({ cpu }) => (cpu === undefined ? unknown : `process ${percent(cpu.process)}`),
  },
];

/** The numbers at the top. */
export class Tiles {
  private readonly shown = tiles.map((tile) => {
    const value = make('span', { 'data-value': tile.name }, unknown);
    const unit = make('span', { class: 'unit' });
    const note = make('dd', { class: 'note', 'data-note': tile.name }, unknown);
    const shown = make('dd', { class: 'value' }, value, unit);
    byId('tiles').append(make('div', { class: 'tile' }, make('dt', {}, tile.title), shown, note));
    return { tile, value, unit, note };
  });

  show(sample: Sample): void {
    for (const { tile, value, unit, note } of this.shown) {
      const [text, its = ''] = tile.value(sample);
      setText(value, text);
      setText(unit, its);
      setText(note, tile.note(sample));
    }
  }
}
