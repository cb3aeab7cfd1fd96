import { type PresetName, presets } from '../../src/wheel/presets.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';

interface Subject {
  name: string;
  config: WheelConfig;
  /** Ticks that a deadline on a tick's start waits beyond that tick: 1 where rounding is to the next interval. */
  slack: 0 | 1;
  /** Refuses deadlines in the past. */
  strict: boolean;
  bounded: boolean;
  pinned: boolean;
}

const subject = (name: string, config: WheelConfig): Subject => ({
  name,
  config,
  slack: config.engine === 'cascading' && config.rounding === 'next' ? 1 : 0,
  strict: config.past === 'throw',
  bounded: config.engine === 'pinned' || config.overflow === 'throw',
  pinned: config.engine === 'pinned',
});

/** Every preset, and what no preset has. */
export const subjects: Subject[] = [
  ...(Object.keys(presets) as PresetName[]).map((name) => subject(name, presets[name])),
  subject('three levels of one bit', { engine: 'cascading', precision: 5, levelBits: [1, 1, 1] }),
  subject('a precision of 0.1', { engine: 'cascading', precision: 0.1, levelBits: [4, 4] }),
];
