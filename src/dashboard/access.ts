import type { IncomingMessage } from 'node:http';
import { process } from '../process.ts';
import { isLoopback, type ResolvedDashboardOptions } from './options.ts';

/** The decision on a request: answer it, refuse it with a sentence, or redirect it with the token as a cookie. */
export type Verdict =
  | { readonly is: 'allowed' }
  | { readonly is: 'refused'; readonly status: 401 | 403; readonly why: string }
  | { readonly is: 'cookie'; readonly cookie: string };

/** Loaded when the first page is served. */
const crypto = () => process.getBuiltinModule('node:crypto');

const digest = (text: string): Buffer => crypto().createHash('sha256').update(text).digest();

/**
 * Decides who may see the dashboard. On loopback a request must name a loopback host: else any web page could make its own name
 * resolve to this machine, and read the dashboard (DNS rebinding). With a token every request must carry it, as `Authorization:
 * Bearer`, in the query of the page's address, or as the cookie that this sets.
 */
export class Access {
  private readonly checksHost: boolean;
  private readonly expected: Buffer | undefined;
  private readonly token: string | undefined;

  constructor({ host, token }: ResolvedDashboardOptions) {
    this.checksHost = isLoopback(host);
    this.token = token;
    this.expected = token === undefined ? undefined : digest(token);
  }

  judge(request: IncomingMessage, url: URL): Verdict {
    const { cookie, host = '', authorization, 'sec-fetch-site': site } = request.headers;
    if (this.checksHost && !isLoopback(host.replace(/:\d*$/, ''))) {
      return { is: 'refused', status: 403, why: 'This dashboard is at 127.0.0.1 or localhost, under no other name.' };
    }
    if (url.pathname !== '/' && site !== undefined && site !== 'same-origin' && site !== 'none') {
      return { is: 'refused', status: 403, why: 'This is for the dashboard alone, not for pages of other sites.' };
    }
    if (this.expected === undefined) return { is: 'allowed' };
    const name = `shardwheel-${request.socket.localPort}`; // a browser sends cookies to all ports of a host
    const given = url.searchParams.get('token');
    if (given !== null && this.isToken(given)) {
      if (url.pathname !== '/') return { is: 'allowed' };
      return { is: 'cookie', cookie: `${name}=${this.token}; HttpOnly; SameSite=Lax; Path=/` };
    }
    const bearer = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
    const kept = (cookie ?? '').split('; ').find((each) => each.startsWith(`${name}=`));
    if (this.isToken(bearer) || this.isToken(kept?.slice(name.length + 1))) return { is: 'allowed' };
    const why = 'The dashboard needs its token: open its address with ?token=… once, or send Authorization: Bearer.';
    return { is: 'refused', status: 401, why };
  }

  /** Takes the same time for all texts of one length. */
  private isToken(text: string | undefined): boolean {
    return text !== undefined && this.expected !== undefined && crypto().timingSafeEqual(digest(text), this.expected);
  }
}
