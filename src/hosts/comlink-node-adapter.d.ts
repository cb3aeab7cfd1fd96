// comlink ships its adapter for node:worker_threads as an ES module without types.
declare module 'comlink/dist/esm/node-adapter.mjs' {
  import type { MessagePort } from 'node:worker_threads';
  import type { Endpoint } from 'comlink';
  export default function nodeEndpoint(port: MessagePort): Endpoint;
}
