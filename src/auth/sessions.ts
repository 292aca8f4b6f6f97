/** The sessions in a browser's cookies: a refresh token each, sealed together with the id of the user whose session it is. */
import { z } from 'zod';
import { readCookies } from './cookies.ts';
import { createSealer } from './sealing.ts';

export interface Session {
  readonly token: string;
  /** `undefined`: the seal is older than this rule, or the provider does not name the user. */
  readonly subject: string | undefined;
}

export interface SessionSealer {
  seal(session: Session): string;
  /** `undefined`: not ours, not whole, or of a secret that is gone. */
  unseal(sealed: string): Session | undefined;
}

const named = z.tuple([z.string().min(1), z.string().min(1)]);

/**
 * Seals with a subject have a purpose of their own. A process of an earlier version cannot open them and leaves the cookie
 * alone; under one purpose it would present the whole text to the provider, and clear the cookie when that is refused.
 */
export function createSessionSealer(secrets: readonly string[]): SessionSealer {
  const withSubject = createSealer(secrets, 'session of a subject');
  const withoutSubject = createSealer(secrets, 'session');
  return {
    seal: ({ token, subject }) =>
      subject === undefined ? withoutSubject.seal(token) : withSubject.seal(JSON.stringify([subject, token])),
    unseal: (sealed) => {
      const text = withSubject.unseal(sealed);
      if (text !== undefined) {
        const [subject, token] = named.parse(JSON.parse(text));
        return { token, subject };
      }
      const token = withoutSubject.unseal(sealed);
      return token ? { token, subject: undefined } : undefined;
    },
  };
}

/** Every good cookie, one for each token. */
export function readSessions(sealer: SessionSealer, cookieHeader: string | undefined): readonly Session[] {
  const found = readCookies(cookieHeader, 'ka_session').flatMap((value) => sealer.unseal(value) ?? []);
  return [...new Map(found.map((session) => [session.token, session])).values()];
}

/**
 * Whether one user has all of them. A sibling domain can add a cookie for a longer path, which browsers send first: of
 * two users' sessions nothing shows which one the browser belongs to.
 */
export function areOfOneSubject(sessions: readonly Session[]): boolean {
  const [first] = sessions;
  if (first === undefined || sessions.length === 1) return true;
  return first.subject !== undefined && sessions.every(({ subject }) => subject === first.subject);
}
