import { INLINE, SHARD } from '../suites/rates/rate-subjects.ts';
import { colourOf, palettes, type Theme } from './themes.ts';

const [WIDTH, HEIGHT] = [840, 236];
const FONT = 'ui-sans-serif, system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif';

/** Where the parts are. */
const LOOP = { x: 4, y: 30, width: 220, height: 176 };
const TABLE = { x: 372, y: 30, width: 132, height: 176 };
const WHEEL = { x: 722, y: 118, inner: 44, outer: 76 };
const SLOTS = 24;
/** Slots with timers, by ring, and how many each has. */
const FILLED: readonly (readonly [ring: 'inner' | 'outer', slot: number, timers: number])[] = [
  ...[1, 2, 4, 5, 8, 11, 15, 16, 19].map((slot, at) => ['outer', slot, 1 + (at % 3)] as const),
  ...[3, 7, 8, 14, 20].map((slot, at) => ['inner', slot, 1 + (at % 2)] as const),
];

/** What shardwheel does, in one picture. */
export function ideaDrawing(theme: Theme): string {
  const palette = palettes[theme];
  const { text, quiet, grid, shade } = palette;
  const [blue, orange] = [colourOf[theme][INLINE], colourOf[theme][SHARD]];
  const write = (
    x: number,
    y: number,
    words: string,
    { size = 12.5, weight = 400, fill = quiet, anchor = 'middle' } = {},
  ) =>
    `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}">${words}</text>`;
  const box = ({ x, y, width, height }: typeof LOOP) =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${shade}" stroke="${grid}"/>`;
  const arrow = (from: number, to: number, y: number, colour: string) => {
    const back = to < from ? 1 : -1;
    return `<path d="M${from} ${y}H${to}" stroke="${colour}" stroke-width="2" fill="none"/><path d="M${to} ${y}l${9 * back} -5v10z" fill="${colour}"/>`;
  };
  const heading = { size: 14, weight: 600, fill: text };
  const middle = LOOP.x + LOOP.width / 2;
  const cells = Array.from({ length: 6 }, (_, at) => {
    const y = TABLE.y + 44 + at * 17;
    const live = at !== 2 && at !== 4;
    return `<rect x="${TABLE.x + 16}" y="${y}" width="100" height="13" rx="2" fill="${live ? blue : grid}" fill-opacity="${live ? 0.75 : 0.5}"/>`;
  });
  const between = (TABLE.x + TABLE.width + WHEEL.x - WHEEL.outer) / 2;
  const toTable = (LOOP.x + LOOP.width + TABLE.x) / 2;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="${FONT}">`,
    '<title>How shardwheel works</title>',
    '<desc>The event loop writes a few words for each timer into a table in shared memory. A timing wheel takes them from there, on the event ' +
      'loop’s own thread or on another. What is due comes back in batches, and sockets are served in between.</desc>',
    box(LOOP),
    write(middle, LOOP.y + 24, 'your event loop', heading),
    write(middle, LOOP.y + 62, 'sockets, requests'),
    write(middle, LOOP.y + 88, 'callbacks of due timers,'),
    write(middle, LOOP.y + 105, 'about a millisecond at a time:'),
    write(middle, LOOP.y + 122, 'sockets are served in between'),
    write(middle, LOOP.y + 156, 'no object, no closure per timer', { fill: blue }),
    arrow(LOOP.x + LOOP.width + 8, TABLE.x - 8, 96, blue),
    write(toTable, 66, 'schedule'),
    write(toTable, 84, 'cancel, move'),
    arrow(TABLE.x - 8, LOOP.x + LOOP.width + 8, 158, orange),
    write(toTable, 178, 'what is due,'),
    write(toTable, 195, 'in batches'),
    box(TABLE),
    write(TABLE.x + TABLE.width / 2, TABLE.y + 24, 'shared memory', heading),
    ...cells,
    write(TABLE.x + TABLE.width / 2, TABLE.y + 164, 'some words a timer'),
    arrow(TABLE.x + TABLE.width + 8, WHEEL.x - WHEEL.outer - 10, 96, blue),
    arrow(WHEEL.x - WHEEL.outer - 10, TABLE.x + TABLE.width + 8, 158, orange),
    write(between, 66, 'new timers,'),
    write(between, 84, 'many at a time'),
    write(between, 178, 'those of'),
    write(between, 195, 'this tick'),
    write(WHEEL.x, 24, 'timing wheel', heading),
    ...wheel(theme),
    write(WHEEL.x, 214, 'on the same thread,'),
    write(WHEEL.x, 230, 'or on one of its own if that pays'),
    '</svg>',
  ];
  return `${lines.join('\n').replace(/-?\d+\.\d{3,}/g, (digits) => String(Number(Number(digits).toFixed(2))))}\n`;
}

/** Two rings of slots, and the hand that is now. */
function wheel(theme: Theme): string[] {
  const { text, grid } = palettes[theme];
  const [blue, orange] = [colourOf[theme][INLINE], colourOf[theme][SHARD]];
  const at = (radius: number, slot: number) => {
    const angle = (slot / SLOTS) * 2 * Math.PI - Math.PI / 2;
    return [WHEEL.x + radius * Math.cos(angle), WHEEL.y + radius * Math.sin(angle)];
  };
  const radii = { inner: WHEEL.inner, outer: WHEEL.outer - 8 };
  const slots = (['inner', 'outer'] as const).flatMap((ring) =>
    Array.from({ length: SLOTS }, (_, slot) => {
      const timers = FILLED.find(([of, place]) => of === ring && place === slot)?.[2] ?? 0;
      const [x, y] = at(radii[ring], slot);
      const isDue = ring === 'outer' && slot === 1;
      const fill = timers === 0 ? grid : isDue ? orange : blue;
      return `<circle cx="${x}" cy="${y}" r="${timers === 0 ? 3 : 3.4 + timers}" fill="${fill}"/>`;
    }),
  );
  const [x, y] = at(radii.outer - 11, 1);
  return [
    ...slots,
    `<path d="M${WHEEL.x} ${WHEEL.y}L${x} ${y}" stroke="${orange}" stroke-width="2.5" stroke-linecap="round"/>`,
    `<circle cx="${WHEEL.x}" cy="${WHEEL.y}" r="4" fill="${text}"/>`,
  ];
}
