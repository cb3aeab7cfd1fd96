import type { IncomingMessage } from 'node:http';
import { process } from '../../process.ts';
import { isLoopback, type ResolvedDashboardOptions } from './options.ts';

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number;
  readonly why: string;
}

/**
 * Returns why a request is refused, or the cookie that it is given in exchange for its token; undefined if it is
 * allowed.
 */
export type Access = (
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
) => Refusal | { readonly cookie: string } | undefined;

/** Loaded when the first page is served. */
const crypto = () => process.getBuiltinModule('node:crypto');

const digest = (text: string): Buffer => crypto().createHash('sha256').update(text).digest();

/**
 * Decides who may see the dashboard. Without a token a request must name a loopback host: else any web page could make
 * its own name resolve to this machine, and read the dashboard (DNS rebinding). With a token every request must carry
 * it, as `Authorization: Bearer`, in the query of the page's address, or as the cookie that this sets. A browser has
 * the cookie for no other name, so the name does not matter: it may be a proxy's.
 */
export function accessBy({ token }: ResolvedDashboardOptions): Access {
  const expected = token === undefined ? undefined : digest(token);
  /** Takes the same time for all texts of one length. */
  const isToken = (text: string | undefined | null): boolean =>
    text != null && expected !== undefined && crypto().timingSafeEqual(digest(text), expected);

  return ({ headers, socket }, path, query) => {
    const { cookie = '', host = '', authorization = '', 'sec-fetch-site': site } = headers;
    if (expected === undefined && !isLoopback(host.replace(/:\d*$/, ''))) {
      return { status: 403, why: 'Without a token, this dashboard is at 127.0.0.1 or localhost, under no other name.' };
    }
    if (path !== '/' && site !== undefined && site !== 'same-origin' && site !== 'none') {
      return { status: 403, why: 'This is for the dashboard alone, not for pages of other sites.' };
    }
    if (expected === undefined) return undefined;
    const name = `shardwheel-${socket.localPort}`; // a browser sends cookies to all ports of a host
    if (isToken(query.get('token'))) {
      // No Path: it goes back to the page's own folder alone, which a proxy may have put elsewhere than at /.
      return path === '/' ? { cookie: `${name}=${token}; HttpOnly; SameSite=Lax` } : undefined;
    }
    const bearer = /^Bearer (.+)$/i.exec(authorization)?.[1];
    const kept = cookie.split('; ').find((each) => each.startsWith(`${name}=`));
    if (isToken(bearer) || isToken(kept?.slice(name.length + 1))) return undefined;
    const why = 'The dashboard needs its token: open its address with ?token=… once, or send Authorization: Bearer.';
    return { status: 401, why };
  };
}
