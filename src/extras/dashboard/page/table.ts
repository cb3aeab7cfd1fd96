import { make, setText } from './elements.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Words, which stand at the left; else numbers. */
  readonly isText?: boolean;
  /** May be broken into lines. */
  readonly isLong?: boolean;
}

/** A table that changes only what has changed. Its first column names the row. */
export class Table<Row> {
  private readonly body = make('tbody');
  private readonly table: HTMLTableElement;
  private readonly none: HTMLParagraphElement;
  private readonly columns: readonly Column<Row>[];

  constructor(parent: HTMLElement, caption: string, columns: readonly Column<Row>[], none: string) {
    this.columns = columns;
    const heads = columns.map((column) => make('th', { scope: 'col', class: this.classOf(column) }, column.title));
    this.table = make(
      'table',
      {},
      make('caption', { class: 'hidden-text' }, caption),
      make('thead', {}, make('tr', {}, ...heads)),
      this.body,
    );
    this.none = make('p', { class: 'none' }, none);
    parent.append(this.table, this.none);
    // One that is wider than its place can be scrolled by keys.
    const observer = new ResizeObserver(() => {
      const isWider = this.table.scrollWidth > parent.clientWidth;
      if (isWider === parent.hasAttribute('tabindex')) return;
      for (const [name, value] of Object.entries({ tabindex: '0', role: 'region', 'aria-label': caption })) {
        if (isWider) parent.setAttribute(name, value);
        else parent.removeAttribute(name);
      }
    });
    observer.observe(parent);
    observer.observe(this.table);
    this.show([]);
  }

  show(rows: readonly Row[]): void {
    this.table.hidden = rows.length === 0;
    this.none.hidden = rows.length > 0;
    const { body } = this;
    while (body.rows.length > rows.length) body.deleteRow(-1);
    while (body.rows.length < rows.length) body.append(this.newRow());
    for (const [at, row] of rows.entries()) {
      const { cells } = body.rows[at];
      for (const [column, { text }] of this.columns.entries()) setText(cells[column], text(row));
    }
  }

  private newRow(): HTMLTableRowElement {
    const cells = this.columns.map((column, at) =>
      at === 0
        ? make('th', { scope: 'row', class: this.classOf(column) })
        : make('td', { class: this.classOf(column) }),
    );
    return make('tr', {}, ...cells);
  }

  private classOf({ isText, isLong }: Column<Row>): string {
    return isLong ? 'text long' : isText ? 'text' : '';
  }
}
