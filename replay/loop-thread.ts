// Entry of a thread that is one of a replay's event loops: started by `Replay`.
import { LoopReplay } from './loop-replay.ts';
import { serveCalls, tell } from './serve-calls.ts';

serveCalls(new LoopReplay(tell));
