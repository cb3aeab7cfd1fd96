// Sets a timer, and ends as it is told to, or goes on.
const [, , how, signal] = process.argv;

if (how === 'abort') process.kill(process.pid, 'SIGKILL'); // before anything could be written

if (how === 'gracefully') {
  process.once(signal, () => {
    setTimeout(() => {}, 5);
    setTimeout(() => process.exit(7), 20);
  });
  setTimeout(() => {}, 10_000);
  process.stdout.write('ready\n');
}

if (how === 'block') setTimeout(() => {}, 10_000);

if (how !== 'gracefully') {
  setTimeout(() => {
    if (how === 'throw') throw new Error('on purpose');
    if (how === 'reject') Promise.reject(new Error('on purpose'));
    if (how === 'exit') process.exit(3);
    if (how === 'hang') setInterval(() => {}, 50);
    if (how === 'while') setTimeout(() => {}, 2500);
    if (how === 'block') setTimeout(block, 500);
  }, 100);
}

function block() {
  process.stdout.write('blocked\n');
  for (const end = Date.now() + 20_000; Date.now() < end; );
}
