import { DROP_IN, INLINE, NODE, REGISTERED, SHARD } from '../suites/rates/rate-subjects.ts';

/** The colours of a page that a picture is shown on: those of GitHub's light and dark pages. */
export interface Palette {
  readonly text: string;
  /** Of what is less important: axes, captions. */
  readonly quiet: string;
  readonly grid: string;
  /** Of an area that means something. */
  readonly shade: string;
}

export type Theme = 'light' | 'dark';

export const themes: readonly Theme[] = ['light', 'dark'];

export const palettes: Readonly<Record<Theme, Palette>> = {
  light: { text: '#1f2328', quiet: '#59636e', grid: '#d9dee3', shade: '#eef3f8' },
  dark: { text: '#f0f6fc', quiet: '#9198a1', grid: '#30363d', shade: '#161d26' },
};

/** Each subject has its colour and its symbol in every picture: they can be told apart without colours. */
export const colourOf: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: { [NODE]: '#59636e', [INLINE]: '#0969da', [SHARD]: '#bc4c00', [DROP_IN]: '#1a7f37', [REGISTERED]: '#8250df' },
  dark: { [NODE]: '#9198a1', [INLINE]: '#58a6ff', [SHARD]: '#f0883e', [DROP_IN]: '#3fb950', [REGISTERED]: '#bc8cff' },
};

export const symbolOf: Readonly<Record<string, 'circle' | 'square' | 'triangle' | 'diamond' | 'cross'>> = {
  [NODE]: 'cross',
  [INLINE]: 'circle',
  [SHARD]: 'square',
  [DROP_IN]: 'triangle',
  [REGISTERED]: 'diamond',
};

/** What a subject is called in a legend. */
export const nameOf: Readonly<Record<string, string>> = {
  [NODE]: "Node's timers",
  [INLINE]: 'shardwheel, inline',
  [SHARD]: 'shardwheel, 1 thread',
  [DROP_IN]: 'drop-in timers',
  [REGISTERED]: 'registered program',
};
