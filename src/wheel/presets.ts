import type { WheelConfig } from './wheel-config.ts';

export type PresetName = 'default' | 'janestreet' | 'pinned3' | 'ustack' | 'twolevel' | 'blitz';

export const presets: Record<PresetName, WheelConfig> = {
  default: { engine: 'cascading', precision: 1, levelBits: [8, 8, 8, 8] },
} as Record<PresetName, WheelConfig>;
