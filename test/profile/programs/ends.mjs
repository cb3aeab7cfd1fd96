// Sets a timer, and ends as it is told to: throw, exit, signal, hang.
if (process.argv[2] === 'abort') process.kill(process.pid, 'SIGKILL'); // before anything could be written
setTimeout(() => {
  const how = process.argv[2];
  if (how === 'throw') throw new Error('on purpose');
  if (how === 'exit') process.exit(3);
  if (how === 'hang') setInterval(() => {}, 50);
  if (how === 'while') setTimeout(() => {}, 2500);
}, 100);
