import { idleOf, type Suite } from './suite.ts';
import type { Target } from './target.ts';

/**
 * The suites that the words pick, with the subjects that they pick. A word is a suite's code (of several codes, any
 * will do), or else part of suites' names (all of them must fit), or else part of subjects' names: then only those are
 * measured, the base and the driver staying. Empty where a word fits nothing.
 */
export function select(suites: readonly Suite[], words: readonly string[]): Suite[] {
  const lower = words.map((word) => word.toLowerCase());
  const codes = lower.filter((word) => suites.some((suite) => hasCode(suite, word)));
  const names = lower.filter((word) => !codes.includes(word) && suites.some(({ name }) => name.includes(word)));
  const subjects = lower.filter((word) => !codes.includes(word) && !names.includes(word));
  return suites
    .filter(
      (suite) =>
        (codes.length === 0 || codes.some((code) => hasCode(suite, code))) &&
        names.every((name) => suite.name.includes(name)) &&
        subjects.every((word) => suite.subjects.some(({ name }) => name.toLowerCase().includes(word))),
    )
    .map((suite) => (subjects.length === 0 ? suite : narrowed(suite, subjects)));
}

/**
 * Of the suites those that a target is set for, with the subjects that targets speak of and what they are held against.
 */
export function selectTargeted(suites: readonly Suite[], targets: readonly Target[]): Suite[] {
  return suites.flatMap((suite) => {
    const its = targets.filter((target) => target.suite === suite.name);
    const needed = new Set(its.flatMap(({ subject, base = suite.base }) => [subject, base]));
    return its.length === 0 ? [] : [keeping(suite, (name) => needed.has(name))];
  });
}

const hasCode = (suite: Suite, word: string): boolean => suite.codes.some((code) => code.toLowerCase() === word);

function narrowed(suite: Suite, words: readonly string[]): Suite {
  return keeping(suite, (name) => words.some((word) => name.toLowerCase().includes(word)));
}

/** The suite with the subjects that are picked, the base, and the drivers of them all. */
function keeping(suite: Suite, isPicked: (name: string) => boolean): Suite {
  const isNeeded = (name: string) => name === suite.base || name === suite.idle;
  const picked = suite.subjects.filter(({ name }) => isNeeded(name) || isPicked(name));
  const drivers = new Set(picked.map(({ name }) => idleOf(suite, name)));
  return { ...suite, subjects: suite.subjects.filter((entry) => picked.includes(entry) || drivers.has(entry.name)) };
}
