/** A program under a load of its own. */
export interface WholeProgram {
  /** Does a slice of it. Answers with how many operations that were; throws where one went wrong. */
  work(): Promise<number>;
  stop(): Promise<void>;
}
