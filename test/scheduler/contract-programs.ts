import { Draws } from '../fixtures/draws.ts';
import { drawProgram, type Operation, type Program } from './contract-operations.ts';
import { ContractRun } from './contract-run.ts';

/** Operations of a program, those of its callbacks aside. */
const LENGTH = 300;

/**
 * Runs random programs until so many operations are done; throws at the first that fails, with the least part of it
 * that fails.
 */
export async function runPrograms(seed: number, shards: number, least: number): Promise<number> {
  const draws = new Draws(seed);
  let done = 0;
  for (let number = 0; done < least; number++) {
    const program = drawProgram(draws, shards, LENGTH);
    const { faults, operations } = await ContractRun.of(program);
    if (faults.length > 0) {
      const part = await shrink(program);
      const { faults: why } = await ContractRun.of(part);
      const shown = part.operations.map((operation) => JSON.stringify(operation)).join('\n');
      const { options, dropIn } = part;
      throw new Error(
        `program ${number} of seed ${seed}: ${faults.slice(0, 3)}\nof it ${why[0]}\n${JSON.stringify({ options, dropIn })}\n${shown}`,
      );
    }
    done += operations;
  }
  return done;
}

/** Leaves out whatever is not needed for a fault: halves, quarters, single operations, and what callbacks do. */
async function shrink({ options, dropIn, operations }: Program): Promise<Program> {
  let least = operations;
  const fails = async (part: readonly Operation[]) =>
    (await ContractRun.of({ options, dropIn, operations: part })).faults.length > 0;
  for (let size = least.length >> 1; size >= 1; size = Math.ceil(size / 2)) {
    for (let at = 0; at < least.length; ) {
      const part = least.toSpliced(at, size);
      if (await fails(part)) least = part;
      else at += size;
    }
    if (size === 1) break;
  }
  for (const at of least.keys()) {
    for (let inner = 0; inner < least[at].calls.length; ) {
      const part = least.with(at, { ...least[at], calls: least[at].calls.toSpliced(inner, 1) });
      if (await fails(part)) least = part;
      else inner += 1;
    }
  }
  return { options, dropIn, operations: least };
}
