// Entry of a thread that says that it has started, and ends.
import { parentPort } from 'node:worker_threads';

parentPort?.postMessage('started');
