/** The sessions in a browser's cookies: a refresh token each, sealed together with the id of its user. */
import { z } from 'zod';
import { createSealer } from '#platform/access/sealing.ts';
import { readCookies } from './cookies.ts';

export interface Session {
  readonly token: string;
  /** `undefined` if the provider does not identify the user. */
  readonly subject: string | undefined;
  /** When the request began that sealed it. 0 without a subject, because operators end the sessions of a subject. */
  readonly sealedAtMs: number;
}

export interface SessionSealer {
  seal(session: Session): string;
  /** Returns `undefined` if the text was not sealed here, is damaged, or belongs to a removed secret. */
  unseal(sealed: string): Session | undefined;
}

const named = z.tuple([z.string().min(1), z.string().min(1), z.number()]);

/** The two kinds of seals have their own purposes, so neither can be read as the other. */
export function createSessionSealer(secrets: readonly string[]): SessionSealer {
  const withSubject = createSealer(secrets, 'dated session');
  const withoutSubject = createSealer(secrets, 'session');
  return {
    seal: ({ token, subject, sealedAtMs }) =>
      subject === undefined
        ? withoutSubject.seal(token)
        : withSubject.seal(JSON.stringify([subject, token, sealedAtMs])),
    unseal: (sealed) => {
      const text = withSubject.unseal(sealed);
      if (text !== undefined) {
        const [subject, token, sealedAtMs] = named.parse(JSON.parse(text));
        return { token, subject, sealedAtMs };
      }
      const token = withoutSubject.unseal(sealed);
      return token ? { token, subject: undefined, sealedAtMs: 0 } : undefined;
    },
  };
}

/** Returns every valid cookie, one for each token. */
export function readSessions(sealer: SessionSealer, cookieHeader: string | undefined): readonly Session[] {
  const found = readCookies(cookieHeader, 'ka_session').flatMap((value) => sealer.unseal(value) ?? []);
  return [...new Map(found.map((session) => [session.token, session])).values()];
}

/**
 * Reports whether one user owns all sessions. A sibling domain can add a cookie with a longer path, which browsers send first. For
 * sessions of two users, nothing shows which one belongs to the browser.
 */
export function areOfOneSubject(sessions: readonly Session[]): boolean {
  const [first] = sessions;
  if (first === undefined || sessions.length === 1) return true;
  return first.subject !== undefined && sessions.every(({ subject }) => subject === first.subject);
}
