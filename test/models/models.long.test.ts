import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('check.mjs', import.meta.url));

// `npm run models`, which needs spin and a C compiler.
test.each(['lane', 'timer', 'hosts'])(
  'the model %s holds for all of its states, and each of its mutations is found',
  async (model) => {
    const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
      execFile(process.execPath, [script, model], (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, text: `${stdout}${stderr}` });
      });
    });
    expect({ code, text }).toMatchObject({ code: 0 });
    const [, states] = text.match(new RegExp(`^${model}: ([\\d,]+) states`, 'm')) ?? [];
    expect(Number(states?.replaceAll(',', ''))).toBeGreaterThan(10_000);
    const [, found, all] = text.match(new RegExp(`^${model}: (\\d+) of (\\d+) mutations found`, 'm')) ?? [];
    expect(found).toBe(all);
    expect(Number(all)).toBeGreaterThanOrEqual(6);
  },
  600_000,
);
