import { byId, make, setText } from './elements.ts';
import { count, percent, size, sizeText, time, timeText, total } from './format.ts';
import type { View } from './model.ts';

interface Tile {
  readonly name: string;
  readonly title: string;
  readonly value: (view: View) => readonly [value: string, unit?: string];
  readonly note: (view: View) => string;
}

const unknown = '–';

const perSecond = (rate: number | undefined): [string, string] => [rate === undefined ? unknown : count(rate), '/s'];

const tiles: readonly Tile[] = [
  {
    name: 'live',
    title: 'Live timers',
    value: ({ size }) => [count(size)],
    note: ({ size, stats: { shards } }) => {
      const capacity = total(shards, 'capacity');
      return `${percent(capacity === 0 ? 0 : size / capacity)} of ${count(capacity)}`;
    },
  },
  {
    name: 'scheduled',
    title: 'Scheduled',
    value: ({ rates }) => perSecond(rates?.scheduled),
    note: ({ scheduled }) => `${count(scheduled)} in all`,
  },
  {
    name: 'moved',
    title: 'Moved',
    value: ({ rates }) => perSecond(rates?.rescheduled),
    note: ({ rescheduled }) => `${count(rescheduled)} in all`,
  },
  {
    name: 'cancelled',
    title: 'Cancelled',
    value: ({ rates }) => perSecond(rates?.cancelled),
    note: ({ cancelled }) => `${count(cancelled)} in all`,
  },
  {
    name: 'delivered',
    title: 'Delivered',
    value: ({ rates }) => perSecond(rates?.delivered),
    note: ({ delivered }) => `${count(delivered)} in all`,
  },
  {
    name: 'late',
    title: 'Late now (99 %)',
    value: ({ recent }) => (recent === undefined || recent.count === 0 ? [unknown, 'ms'] : time(recent.p99)),
    note: ({ overall }) => (overall.count === 0 ? 'nothing delivered yet' : `${timeText(overall.p99)} over the run`),
  },
  {
    name: 'resident',
    title: 'Resident memory',
    value: ({ memory }) => size(memory.rss),
    note: ({ stats }) => `${sizeText(total(stats.shards, 'bytes'))} for timers`,
  },
  {
    name: 'loop',
    title: 'Event loop busy',
    value: ({ cores }) => [cores === undefined ? unknown : (cores.loop * 100).toFixed(1), '%'],
    note: ({ cores }) => (cores === undefined ? unknown : `process ${percent(cores.process)}`),
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

  show(view: View): void {
    for (const { tile, value, unit, note } of this.shown) {
      const [text, its = ''] = tile.value(view);
      setText(value, text);
      setText(unit, its);
      setText(note, tile.note(view));
    }
  }
}
