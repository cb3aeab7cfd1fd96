// Which threads of a program have the face; a worker answers with what it sees.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const module = new URL('./worker.mjs', import.meta.url);
const script = new URL('./worker.cjs', import.meta.url);
const threads = { count: 0 };
process.on('worker', () => {
  threads.count += 1;
});
const answerOf = async (worker) => {
  const [[answer]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return answer;
};

const child = fork(fileURLToPath(module));
const fromChild = once(child, 'message');
const answers = {
  module: await answerOf(new Worker(module)),
  script: await answerOf(new Worker(script)),
  url: await answerOf(new Worker(new URL(`data:text/javascript,import ${JSON.stringify(module.href)}`))),
  nested: await answerOf(new Worker(module, { argv: ['nest'] })),
  'no flags': await answerOf(new Worker(module, { execArgv: [] })),
  'no flags, no environment': await answerOf(new Worker(module, { execArgv: [], env: {} })),
  fork: (await fromChild)[0],
};
process.stdout.write(JSON.stringify({ ...answers, threads: threads.count }));
