import { Dial, mostIn } from './dial.ts';
import { byId, cleared, setAttribute, setText } from './elements.ts';
import { compact } from './format.ts';
import type { ShardView } from './model.ts';
import { shades } from './theme.ts';

/** The dials of the shards that this page is shown, and the buttons to others. */
export class Wheels {
  private readonly dials: Dial[] = [];
  private readonly back = byId<HTMLButtonElement>('pager-back');
  private readonly on = byId<HTMLButtonElement>('pager-on');
  private from = 0;
  private shown = 1;

  /** `turn`: called with the first shard that is wanted from now on. */
  constructor(turn: (from: number) => void) {
    this.back.addEventListener('click', () => turn(this.from - this.shown));
    this.on.addEventListener('click', () => turn(this.from + this.shown));
  }

  /** Which of how many shards are shown. */
  range(from: number, shown: number, shards: number): void {
    this.from = from;
    this.shown = shown;
    byId('pager').hidden = shards <= shown;
    this.back.disabled = from === 0;
    this.on.disabled = from + shown >= shards;
    setText(byId('pager-text'), `Shards ${from} to ${Math.min(from + shown, shards) - 1} of ${shards}`);
  }

  show(shards: readonly ShardView[]): void {
    while (this.dials.length > shards.length) this.dials.pop()?.element.remove();
    while (this.dials.length < shards.length) {
      const dial = new Dial();
      this.dials.push(dial);
      byId('dials').append(dial.element);
    }
    setAttribute(byId('wheels'), 'data-shards', `${shards.length}`);
    const most = mostIn(shards);
    for (const [at, shard] of shards.entries()) this.dials[at].show(shard, most);
    setText(byId('dial-scale-most'), compact(Math.max(1, most)));
  }

  /** The colours have changed. */
  drawScale(): void {
    const [width, height] = [96, 10];
    const context = cleared(byId<HTMLCanvasElement>('dial-scale-bar'), width, height);
    for (const [shade, colour] of shades.entries()) {
      context.fillStyle = colour;
      context.fillRect((shade * width) / 8, 0, width / 8 + 1, height);
    }
  }
}
