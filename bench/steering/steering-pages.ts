import type { Suite } from '../suite.ts';
import { heartbeats } from './heartbeats.ts';
import { labels } from './labels.ts';
import { rescale } from './rescale.ts';
import { scrape } from './scrape.ts';
import { unread } from './unread.ts';

const namesOf = (suites: readonly Suite[]): string[] => suites.map(({ name }) => name);

/** The suites that each document shows. */
export const steeringPages: Readonly<Record<string, readonly string[]>> = {
  'docs/figures.md': namesOf([labels, heartbeats, rescale, scrape, unread]),
};
