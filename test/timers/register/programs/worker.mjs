// Answers who has set its timers, once some of them have fired.
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { isFace } from './probe.mjs';

const post = (answer) => (isMainThread ? process.send(answer) : parentPort.postMessage(answer));

if (process.argv.includes('nest')) {
  new Worker(new URL(import.meta.url)).once('message', post);
} else {
  const answer = { isFace: isFace(() => setTimeout(() => undefined, 1)), fired: 0 };
  await Promise.all([5, 10, 15].map((delay) => sleep(delay).then(() => (answer.fired += 1))));
  await new Promise((resolve) => {
    const interval = setInterval(() => {
      answer.fired += 1;
      clearInterval(interval);
      resolve();
    }, 5);
  });
  post(answer);
}
