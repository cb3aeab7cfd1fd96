/** A bound that a figure has to keep: a multiple of the base's in the same run, or a value of its own. */
export interface Target {
  readonly title: string;
  readonly suite: string;
  readonly subject: string;
  readonly figure: string;
  readonly most: number;
  /** What the bound counts; '' for a multiple of the base. */
  readonly unit: string;
  /** The subject whose multiple it is, where that is not the suite's base. */
  readonly base?: string;
  /** Whose figure, and whose multiple. */
  readonly of: string;
}
