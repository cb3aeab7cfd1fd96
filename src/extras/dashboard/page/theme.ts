import { colourOf, computed } from './colours.ts';

const names = ['text', 'muted', 'line', 'track', 'accent', 'second', 'third', 'fourth', 'hand'] as const;

/** A colour of the page by its name in the style sheet. */
export type ColourName = (typeof names)[number];

/** The colours that canvases draw with: those of the style sheet. */
export const colours = {} as Record<ColourName, string>;

const SHADES = 8;

/** The colours of arcs, from few entries to many: what an arc holds, by the logarithm. */
export const shades: string[] = [];

const themes = ['system', 'light', 'dark'] as const;
const key = 'shardwheel-theme';

/**
 * Follows the system's scheme, or the one that the button has set; `changed` is called when the colours have changed.
 */
export function followTheme(button: HTMLButtonElement, changed: () => void): void {
  let theme = themes.find((each) => each === stored()) ?? 'system';
  const apply = (): void => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    for (const name of names) colours[name] = colourOf(name);
    for (let shade = 0; shade < SHADES; shade++) {
      const share = (100 * shade) / (SHADES - 1);
      shades[shade] = computed(`color-mix(in srgb, var(--accent) ${share}%, var(--faint))`);
    }
    changed();
  };
  button.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem(key, theme);
    } catch {
      // Nothing may be stored here: the next visit begins with the system's scheme.
    }
    apply();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  apply();
}

function stored(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    // Nothing may be read here.
    return null;
  }
}
