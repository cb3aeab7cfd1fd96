import { make } from './elements.ts';

/** What a colour of CSS is at present, in the scheme that holds, as canvases take it: they know no `var()`. */
export function computed(colour: string): string {
  const probe = make('span');
  probe.style.color = colour; // an attribute of style is what the dashboard's policy forbids
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A colour of the style sheet, by its name. */
export const colourOf = (name: string): string => computed(`var(--${name})`);
