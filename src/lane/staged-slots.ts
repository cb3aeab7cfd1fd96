import { ownWords, ownWordsAtLeast } from '../memory/own-words.ts';
import type { CommandStage } from './command-stage.ts';

/**
 * Which slots have a command in a stage. It finds out when somebody asks, so that who adds a command pays nothing; and
 * it reads each entry once, however often it is asked.
 */
export class StagedSlots {
  private readonly stage: CommandStage;
  private slots = ownWords(1);
  /** Number of entries that it has read, from the stage's first. */
  private read = 0;
  /** How many had gone from the stage by then, and how often it had been cleared out. */
  private gone = 0;
  private clearings = 0;

  constructor(stage: CommandStage) {
    this.stage = stage;
  }

  /** If memory is refused, throws, and the next call tries again. */
  has(slot: number): boolean {
    const { stage } = this;
    if (this.gone !== stage.taken + stage.dropped) {
      this.gone = stage.taken + stage.dropped;
      this.read = 0;
      this.slots.fill(0);
    }
    if (this.clearings !== stage.clearings) {
      this.clearings = stage.clearings;
      this.read = 0; // entries that it has not read have moved up among those that it has
    }
    if (this.read < stage.length) this.readOn();
    return (this.slots[slot >>> 5] & (1 << (slot & 31))) !== 0;
  }

  private readOn(): void {
    const { stage } = this;
    const words = (stage.table.highWater >>> 5) + 1;
    if (words > this.slots.length) {
      const slots = ownWordsAtLeast(words, 2 * words);
      slots.set(this.slots);
      this.slots = slots;
    }
    let before = 0;
    for (const { end, start, words: entries } of stage.chunks()) {
      for (let at = start + 2 * Math.max(0, this.read - before); at < end; at += 2) {
        const slot = entries[at];
        this.slots[slot >>> 5] |= 1 << (slot & 31);
      }
      before += (end - start) / 2;
    }
    this.read = stage.length;
  }
}
