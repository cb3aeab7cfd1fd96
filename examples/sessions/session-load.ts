/** What the client knows of a session. Times in ms since 1970. */
export interface Session {
  readonly id: string;
  readonly user: string;
  /** As the last answer had it. */
  expires: number;
  /** A request that may have moved it was not answered: it may expire then at the latest. */
  latest: number;
  end: 'expires' | 'deleted' | 'perhaps deleted';
  /** When its deletion was answered; Infinity before. */
  deleted: number;
}

const LIMIT = 2000;

/**
 * Users that log in, come back now and then, and log out or not; each request to one of the processes, whichever
 * answers.
 */
export class SessionLoad {
  readonly sessions: Session[] = [];
  /** Requests that were answered, and those that ended with their process. */
  answered = 0;
  failed = 0;
  private readonly ports: () => readonly number[];
  private readonly lifetime: number;
  private isEnding = false;

  /** `ports`: those that the service has at that moment. */
  constructor(ports: () => readonly number[], lifetime: number) {
    this.ports = ports;
    this.lifetime = lifetime;
  }

  /** Runs with so many users at a time until `end`. */
  async run(users: number): Promise<void> {
    await Promise.all(Array.from({ length: users }, (_, user) => this.beUser(`user ${user}`)));
  }

  end(): void {
    this.isEnding = true;
  }

  private async beUser(user: string): Promise<void> {
    while (!this.isEnding) {
      const created = await this.ask('POST', `/sessions?user=${encodeURIComponent(user)}`);
      if (created?.status !== 201) continue; // perhaps a session that nobody knows of, which expires
      const { id, expires } = created.body as { id: string; expires: number };
      const session: Session = {
        id,
        user,
        expires,
        latest: expires,
        end: 'expires',
        deleted: Number.POSITIVE_INFINITY,
      };
      this.sessions.push(session);
      for (let uses = Math.floor(Math.random() * 4); uses > 0 && !this.isEnding; uses--) {
        await pause(Math.random() * this.lifetime * 0.5);
        await this.use(session);
      }
      if (Math.random() < 0.4) await this.logOut(session);
      await pause(Math.random() * 50);
    }
  }

  private async use(session: Session): Promise<void> {
    const used = await this.ask('GET', `/sessions/${session.id}`);
    session.latest = Math.max(session.latest, Date.now() + this.lifetime);
    if (used?.status !== 200) return;
    session.expires = (used.body as { expires: number }).expires;
    session.latest = session.expires;
  }

  private async logOut(session: Session): Promise<void> {
    const ended = await this.ask('DELETE', `/sessions/${session.id}`);
    if (ended === undefined || ended.status === 503) session.end = 'perhaps deleted';
    else if (ended.status === 204) {
      session.end = 'deleted';
      session.deleted = Date.now();
    }
  }

  /** Undefined if the process died before it answered. */
  private async ask(method: string, path: string): Promise<Answer | undefined> {
    const ports = this.ports();
    const url = `http://127.0.0.1:${ports[Math.floor(Math.random() * ports.length)]}${path}`;
    try {
      const response = await fetch(url, { method, signal: AbortSignal.timeout(LIMIT) });
      const text = await response.text();
      this.answered += 1;
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch {
      this.failed += 1;
      await pause(20);
      return undefined;
    }
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
