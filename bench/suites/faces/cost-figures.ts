import type { Figure } from '../../engine/suite.ts';
import type { Cost } from './cost-meter.ts';

/** The three figures of what an operation costs; the first has the operation's name. */
export const costFigures = (operation: string): Figure[] => [
  { key: operation, title: operation, unit: 'ns' },
  { key: `${operation}, thread`, title: `${operation}, thread`, unit: 'ns' },
  { key: `${operation}, process`, title: `${operation}, process`, unit: 'ns' },
];

export const costFiguresOf = (operation: string, { wall, thread, process }: Cost): Record<string, number> => ({
  [operation]: wall,
  [`${operation}, thread`]: thread,
  [`${operation}, process`]: process,
});
