import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { modules } from './subjects.ts';

test('what a callback sets fires after the immediates, though it is due when that returns', async () => {
  const program = (module: string) => `
    import timers from '${module}';
    const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
    await new Promise((resolve) => timers.setTimeout(resolve, 5));
    const seen = [];
    setImmediate(() => {
      timers.setTimeout(() => {
        timers.setTimeout(() => seen.push('timer'), 1);
        block(6);
      }, 1);
      setImmediate(() => seen.push('immediate'));
      block(3);
    });
    process.on('exit', () => console.log(seen.join()));
  `;
  for (const { stdout } of await Promise.all(modules.map((module) => runText(program(module))))) {
    expect(stdout).toBe('immediate,timer\n');
  }
});
