import { post } from '../sharing/mailbox.ts';
import type { LaneServer } from './lane-server.ts';

/** A call of a client by mailbox. A `detach` goes to whatever thread there is, and has no answer. */
export type ToThread =
  | {
      readonly call: Exclude<keyof LaneServer, 'detach'>;
      readonly client: number;
      readonly given: readonly unknown[];
      /** The thread that it is for: others leave it alone. */
      readonly epoch: number;
      /** The client's address. */
      readonly reply: string;
      readonly request: number;
    }
  | { readonly call: 'detach'; readonly client: number };

export interface FromThread {
  readonly kind: 'answer';
  readonly host: number;
  readonly request: number;
  readonly answer?: unknown;
  readonly error?: Error;
}

/** Serves a call. If even the answer is refused, it throws, and the thread ends: its successor is offered all lanes. */
export function receiveCall(server: LaneServer, host: number, epoch: number, message: ToThread): void {
  if (message.call === 'detach') {
    server.detach(message.client);
    return;
  }
  if (message.epoch !== epoch) return;
  post(message.reply, { kind: 'answer', host, request: message.request, ...outcomeOf(server, message) });
}

function outcomeOf(server: LaneServer, { call, client, given }: Exclude<ToThread, { call: 'detach' }>) {
  try {
    return { answer: (server[call] as (client: number, ...given: unknown[]) => unknown)(client, ...given) };
  } catch (error) {
    return { error: error as Error };
  }
}
