import { InvalidConfigError } from '../../errors.ts';
import { type PresetName, presets } from '../../wheel/presets.ts';
import { validateConfig, type WheelConfig, type WheelOptions } from '../../wheel/wheel-config.ts';
import { CascadingWheel } from './cascading-wheel.ts';
import { PinnedWheel } from './pinned-wheel.ts';
import type { TimingWheel } from './timing-wheel.ts';

/** Creates a wheel by preset or configuration; default: the preset 'default'. Throws InvalidConfigError. */
export function createWheel<T>(
  config: WheelConfig | PresetName = 'default',
  options: WheelOptions = {},
): TimingWheel<T> {
  const resolved = typeof config === 'string' ? presets[config] : config;
  if (resolved === undefined)
    throw new InvalidConfigError('wheel', `must be one of ${Object.keys(presets).join(', ')}`, config);
  validateConfig(resolved, options);
  const isCascading = resolved.engine === 'cascading';
  return isCascading ? new CascadingWheel<T>(resolved, options) : new PinnedWheel<T>(resolved, options);
}
