import { clearTimeout, setImmediate, setTimeout } from '../../time/native-timers.ts';
import type { StoreHost } from '../durable-store.ts';
import type { DuePlace, RecordTable } from './record-table.ts';

const PAGE = 1000;
/** ms between two reports. */
const INTERVAL = 2000;

/** Reports how far the timers that were overdue when the store was opened have been delivered: every two seconds, and at the end. */
export class Recovery {
  private readonly table: RecordTable;
  private readonly host: StoreHost;
  private readonly openedAt = Date.now();
  private readonly start = performance.now();
  private readonly names = new Set<string>();
  private overdue = 0;
  private isCounting = false;
  private isEnded = false;
  private next: NodeJS.Timeout | undefined;

  constructor(table: RecordTable, host: StoreHost) {
    this.table = table;
    this.host = host;
  }

  /** This process begins to deliver the timers of the name. */
  begin(name: string): void {
    if (this.names.has(name)) return;
    this.names.add(name);
    if (this.isCounting || this.isEnded) return;
    this.isCounting = true;
    this.next = setTimeout(this.report, INTERVAL);
  }

  end(): void {
    this.isEnded = true;
    clearTimeout(this.next);
  }

  private readonly report = (): void => {
    void this.takeReport().catch((error: unknown) => this.host.failed(error as Error));
  };

  private async takeReport(): Promise<void> {
    let remaining = 0;
    for (const name of this.names) remaining += await this.remaining(name);
    if (this.isEnded) return;
    this.overdue = Math.max(this.overdue, remaining);
    if (this.overdue === 0) return;
    const isDone = remaining === 0;
    const elapsed = performance.now() - this.start;
    this.host.recovering({ overdue: this.overdue, delivered: this.overdue - remaining, elapsed, isDone });
    if (!isDone) this.next = setTimeout(this.report, INTERVAL);
  }

  /** Counts page by page, with a pass of the event loop after each. */
  private async remaining(name: string): Promise<number> {
    let count = 0;
    let place: DuePlace = { due: 0, key: '' };
    while (!this.isEnded) {
      const page = this.table.due(name, place, this.openedAt, PAGE);
      count += page.length;
      if (page.length < PAGE) break;
      place = page[PAGE - 1];
      await new Promise((resolve) => setImmediate(resolve));
    }
    return count;
  }
}
