import { parseArgs } from 'node:util';

/**
 * Reads `--<name> <count>`, an integer from 1 to `max`. Ends the process with code 2, and says why, where it is
 * something else.
 */
export function countOption(name: string, { value, max, help }: { value: number; max: number; help: string }): number {
  const usage = `Usage: --${name} <1 to ${max}>   ${help} (default: ${value})`;
  try {
    const { values } = parseArgs({ options: { [name]: { type: 'string' }, help: { type: 'boolean' } } });
    if (values.help === true) {
      console.log(usage);
      process.exit(0);
    }
    const given = values[name];
    const count = given === undefined ? value : Number(given);
    if (Number.isInteger(count) && count >= 1 && count <= max) return count;
    console.error(`--${name} must be an integer from 1 to ${max}, got '${String(given)}'`);
  } catch (error) {
    console.error((error as Error).message.split('\n', 1)[0]);
  }
  process.exit(2);
}
