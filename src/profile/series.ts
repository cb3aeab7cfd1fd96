import type { SeriesPoint } from './profile-data.ts';

const MAX_POINTS = 480;

/** Points over time, at most 480. When there are more, every second one is dropped, and from then on half as many are added. */
export class Series {
  private points: SeriesPoint[] = [];
  private every = 1;
  private skipped = 0;
  private pass = 0;

  add(point: SeriesPoint): void {
    this.pass = Math.max(this.pass, point.pass);
    this.skipped += 1;
    if (this.skipped < this.every) return;
    this.skipped = 0;
    this.points.push({ ...point, pass: this.pass });
    this.pass = 0;
    if (this.points.length < MAX_POINTS) return;
    this.every *= 2;
    this.points = this.points.flatMap((later, at) => {
      if (at % 2 === 0) return [];
      return [{ ...later, pass: Math.max(later.pass, this.points[at - 1].pass) }];
    });
  }

  all(): SeriesPoint[] {
    return this.points.map((point) => ({ ...point }));
  }
}
