// Stops a process with traffic for 1 to 3 s, again and again: node stopped.mjs <stops> <hangTimeout>
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pass } from './ledger.mjs';

const [stops, hangTimeout] = process.argv.slice(2).map(Number);
const traffic = fileURLToPath(new URL('traffic.mjs', import.meta.url));
const seconds = stops * 2.6;
const child = spawn(process.execPath, [traffic, `${seconds}`, `${hangTimeout}`], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const patience = setTimeout(() => child.kill('SIGKILL'), (seconds + 120) * 1000);
process.on('exit', () => child.kill('SIGKILL'));
let output = '';
const isReady = new Promise((resolve) => {
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (output.startsWith('ready\n')) resolve();
  });
});
const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
await Promise.race([isReady, ended]);
for (let stop = 0; stop < stops; stop++) {
  child.kill('SIGSTOP');
  await pass(1000 + (stop % 3) * 1000);
  child.kill('SIGCONT');
  await pass([350, 20, 700, 3][stop % 4]);
}
const { code, signal } = await ended;
clearTimeout(patience);
process.stdout.write(output.replace('ready\n', ''));
if (signal !== null) process.stdout.write(`${JSON.stringify({ faults: [`it ended by ${signal}`], notes: {} })}\n`);
process.exitCode = code ?? 1;
