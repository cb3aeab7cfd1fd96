import { clearTimeout, setTimeout } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import { type DuePlace, pages, type RecordTable } from './record-table.ts';

const PAGE = 1000;
/** ms between two reports. */
const INTERVAL_MS = 2000;

/**
 * Reports how far the timers that were overdue when the store was opened have been delivered: every two seconds, and at
 * the end.
 */
export class Recovery {
  private readonly table: RecordTable;
  private readonly core: DurableCore;
  private readonly openedAt: number;
  private readonly start = performanceNow();
  private readonly names = new Set<string>();
  private overdue = 0;
  private isEnded = false;
  private next: NodeJS.Timeout | undefined;

  constructor(table: RecordTable, core: DurableCore) {
    this.table = table;
    this.core = core;
    this.openedAt = core.clock.now();
  }

  /** This process begins to deliver the timers of the name. */
  begin(name: string): void {
    this.names.add(name);
    if (!this.isEnded) this.next ??= setTimeout(this.report, INTERVAL_MS);
  }

  end(): void {
    this.isEnded = true;
    clearTimeout(this.next);
  }

  private readonly report = (): void => {
    this.next = undefined; // a name that begins later is reported as well
    void this.takeReport().catch(this.core.failed);
  };

  private async takeReport(): Promise<void> {
    let remaining = 0;
    for (const name of this.names) {
      const read = (last: DuePlace = { due: 0, key: '' }): DuePlace[] =>
        this.isEnded ? [] : this.table.due(name, last, this.openedAt, PAGE);
      for await (const page of pages(PAGE, read)) remaining += page.length;
    }
    if (this.isEnded) return;
    this.overdue = Math.max(this.overdue, remaining);
    if (this.overdue === 0) return;
    const isDone = remaining === 0;
    const elapsed = performanceNow() - this.start;
    this.core.recovering({ overdue: this.overdue, delivered: this.overdue - remaining, elapsed, isDone });
    if (isDone) this.overdue = 0;
    else this.next ??= setTimeout(this.report, INTERVAL_MS);
  }
}
