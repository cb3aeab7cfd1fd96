import type { WholeProgram } from './whole-program.ts';

/** Programs by name. Each loads its own libraries only. `part`: how much of a full slice is one slice. */
export const wholePrograms: Readonly<Record<string, (part: number) => Promise<WholeProgram>>> = {
  gateway: async (part) => (await import('./http-gateway.ts')).HttpGateway.start(part),
  commands: async (part) => (await import('./command-client.ts')).CommandClient.start(part),
};
