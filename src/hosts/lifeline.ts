import { setTimeout } from 'node:timers';
import { allocateGroups, wordsIn } from '../memory/shared-words.ts';
import { runtime } from '../runtime.ts';
import { Pulse } from '../sharing/pulse.ts';

/** ms between two looks. */
const LOOK = 20;

/** The holder's name: one thread holds a lifeline, once. */
const HOLDER = 1;

/**
 * Whether a thread has really ended. Node's 'exit' event says so, and Bun's. Deno's comes at once when a thread is terminated,
 * while a turn that the thread was in goes on to its end: another thread that served the lanes meanwhile would deliver what the
 * first one does. So on Deno the thread holds a pulse, which ends with it, and the 'exit' event waits for that.
 */
export interface Lifeline {
  /** For the thread to hold; undefined where the event says the truth. */
  readonly memory: SharedArrayBuffer | undefined;
  /** Resolves when the thread is gone. Precondition: its 'exit' event has come. */
  gone(): Promise<void>;
}

export function newLifeline(): Lifeline {
  if (runtime !== 'deno') return { memory: undefined, gone: () => Promise.resolve() };
  const memory = allocateGroups(1);
  const pulse = new Pulse(wordsIn(memory), HOLDER);
  const gone = async (): Promise<void> => {
    while (!pulse.isGone()) await new Promise((resolve) => setTimeout(resolve, LOOK).unref());
  };
  return { memory, gone };
}
