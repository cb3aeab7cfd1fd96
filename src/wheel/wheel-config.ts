import { InvalidConfigError } from '../errors.ts';

export type WheelConfig =
  | {
      engine: 'cascading';
      precision: number;
      levelBits: number[];
      overflow?: 'list' | 'throw';
      past?: 'next-tick' | 'throw';
      rounding?: 'up' | 'next';
      capacity?: number;
    }
  | {
      engine: 'pinned';
      levels: { precision: number; spokes: number }[];
      past?: 'next-tick' | 'throw';
      capacity?: number;
    };

export function validateWheelConfig(config: WheelConfig): void {
  if (typeof config !== 'object' || config === null)
    throw new InvalidConfigError('wheel', 'must be a configuration', config);
}
