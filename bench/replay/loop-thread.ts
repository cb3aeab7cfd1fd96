import { LoopReplay } from './loop-replay.ts';
import { serveCalls, tell } from './serve-calls.ts';

/** The thread that is one of a replay's event loops: started by `Replay`. */
export const loopThread = (): void => serveCalls(new LoopReplay(tell));
