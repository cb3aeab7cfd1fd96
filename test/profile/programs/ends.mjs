// Sets a timer, and ends as it is told to: throw, exit, signal, hang.
setTimeout(() => {
  const how = process.argv[2];
  if (how === 'throw') throw new Error('on purpose');
  if (how === 'exit') process.exit(3);
  if (how === 'abort') process.kill(process.pid, 'SIGKILL');
  if (how === 'hang') setInterval(() => {}, 50);
  if (how === 'while') setTimeout(() => {}, 2500);
}, 100);
