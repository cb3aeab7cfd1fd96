/** A figure that a suite measures of each subject. Everything is better when it is less, unless said otherwise. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  /** What the suite's idle subject (the driver with no timers) took is subtracted, round by round. */
  readonly net?: boolean;
  readonly moreIsBetter?: boolean;
}

/** What one process measured. */
export interface Measurement {
  readonly figures: Record<string, number>;
  /** Must agree, key by key, between all subjects that have the key, and between rounds. */
  readonly checksums: Record<string, number>;
}

export interface Scale {
  /** Sizes that take a second, to try the bench itself; no target is judged by them. */
  readonly quick: boolean;
}

export interface SubjectEntry {
  readonly name: string;
  /** What a reader has to know: its unit of time, how it is used. */
  readonly note?: string;
  /** The driver with no timers, for this subject, where it is not the suite's. */
  readonly idle?: string;
  /** Why it takes no part here. It is listed, and not run. */
  readonly absent?: string;
}

/**
 * One workload and who takes part. Each subject runs in a process of its own, once per part and round: the rounds are
 * interleaved, and no subject meets another's heap or compiled code. Where subjects run together, the order of each
 * round begins with another.
 */
export interface Suite {
  /** Two words, the area first: `npm run bench -- area workload` picks it by them, by a code or by parts of words. */
  readonly name: string;
  readonly title: string;
  readonly codes: readonly string[];
  /** How it is measured. */
  readonly about: string;
  /** The subject that all others are divided by, within the same round. */
  readonly base: string;
  /** Others that they are divided by as well. */
  readonly otherBases?: readonly string[];
  /** The driver with no timers. */
  readonly idle?: string;
  readonly subjects: readonly SubjectEntry[];
  readonly figures: readonly Figure[];
  /** Pieces that need a process each, their figures being put together. */
  readonly parts?: readonly string[];
  /** Of the parts those that measure each subject in a process of its own, though there is `runTogether`. */
  readonly apart?: readonly string[];
  /** It starts processes itself in which it measures, so none is forked for it. */
  readonly spawns?: boolean;
  /** Called once before anything is measured: who cannot take part on this machine, by name, and why. */
  absentees?(scale: Scale): Promise<Readonly<Record<string, string>>>;
  /** Figures that follow from others of the same subject and round. */
  derive?(figures: Record<string, number>, subject: string): Record<string, number>;
  /** Called in the process that measures. Throws where a subject does wrong. */
  run(subject: string, scale: Scale, part: string): Measurement | Promise<Measurement>;
  /** Where it is there, it is called instead: one process measures all subjects, in the order that is given. */
  runTogether?(subjects: readonly string[], scale: Scale, part: string): Promise<Measurement[]>;
}

/** Whether a subject is a driver with no timers. */
export const isIdle = (suite: Suite, subject: string): boolean =>
  subject === suite.idle || suite.subjects.some(({ idle }) => idle === subject);

/** The driver whose share is taken off a subject's net figures; undefined where there is none, and for drivers. */
export function idleOf(suite: Suite, subject: string): string | undefined {
  if (isIdle(suite, subject)) return undefined;
  return suite.subjects.find(({ name }) => name === subject)?.idle ?? suite.idle;
}

/** Names the figures from which the driver's share has been subtracted. */
export function netNote({ figures }: Suite): string {
  const net = figures.filter((one) => one.net).map(({ title }) => title);
  return net.length === 0 ? '' : ` The driver's own share is taken off: ${net.join('; ')}.`;
}
