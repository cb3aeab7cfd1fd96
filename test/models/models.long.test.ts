import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('check.mjs', import.meta.url));

// `npm run models`, which needs spin and a C compiler.
test.each(['lane', 'timer', 'hosts', 'gate'])(
  'the model %s holds for all of its states, and each of its mutations is found',
  async (model) => {
    const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
      execFile(process.execPath, [script, model], (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, text: `${stdout}${stderr}` });
      });
    });
    expect({ code, text }).toMatchObject({ code: 0 }); // the script knows how many states and mutations there must be
    expect(text).toMatch(new RegExp(`^${model}: (\\d+) of \\1 mutations found`, 'm'));
  },
  1_800_000, // the script limits each of its steps
);
