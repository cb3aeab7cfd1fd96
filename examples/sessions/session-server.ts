import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { DurableTimers } from 'shardwheel/durable';

/** What the service keeps as durable timers: the payload of a session's timer is the session. */
export interface SessionTimers {
  'session-expired': { user: string };
}

/**
 * Sessions over HTTP. A session lives for `lifetime` ms after its last use, whichever process it is used at, and
 * whatever process dies meanwhile.
 *
 *     POST   /sessions?user=ada    201 { id, expires }
 *     GET    /sessions/<id>        200 { user, expires }: it is used, and lives longer; 404 if it has expired
 *     DELETE /sessions/<id>        204; 404 if it has expired
 */
export function sessionServer(timers: DurableTimers<SessionTimers>, lifetime: number): Server {
  const answer = (response: ServerResponse, status: number, body?: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
  };

  async function serve({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const id = /^\/sessions\/([\w-]{36})$/.exec(pathname)?.[1];
    const expires = Date.now() + lifetime;
    if (method === 'POST' && pathname === '/sessions') {
      const id = randomUUID();
      await timers.schedule('session-expired', id, expires, { user: searchParams.get('user') ?? 'somebody' });
      answer(response, 201, { id, expires });
    } else if (method === 'GET' && id !== undefined) {
      // `reschedule`, not `schedule`: a session that has just expired must not come back.
      const session = (await timers.reschedule('session-expired', id, expires))
        ? await timers.get('session-expired', id)
        : undefined;
      if (session === undefined) answer(response, 404);
      else answer(response, 200, { user: session.payload.user, expires: session.deadline });
    } else if (method === 'DELETE' && id !== undefined) {
      answer(response, (await timers.cancel('session-expired', id)) ? 204 : 404);
    } else {
      answer(response, 400);
    }
  }

  return createServer((request, response) => {
    serve(request, response).catch((error: Error) => {
      console.error(error.message);
      answer(response, 503); // the store: what was asked for has been done or not
    });
  });
}
