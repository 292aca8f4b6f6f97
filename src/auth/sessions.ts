/** The sessions in a browser's cookies: a refresh token each, sealed together with the id of its user. */
import { z } from 'zod';
import { readCookies } from './cookies.ts';
import { createSealer } from './sealing.ts';

export interface Session {
  readonly token: string;
  /** `undefined` if the seal is older than this rule, or the provider does not identify the user. */
  readonly subject: string | undefined;
  /** When the request began that sealed it. `undefined` if the seal is older than this rule. */
  readonly sealedAtMs?: number | undefined;
}

export interface SessionSealer {
  seal(session: Session): string;
  /** Returns `undefined` if the text was not sealed here, is damaged, or belongs to a removed secret. */
  unseal(sealed: string): Session | undefined;
}

const named = z.tuple([z.string().min(1), z.string().min(1)]);
const dated = z.tuple([z.string().min(1), z.string().min(1), z.number()]);

/**
 * Seals with a subject, and with a date, use their own purposes. A process of an earlier version cannot open them and
 * ignores the cookie. With the same purpose, it would send the whole text to the provider and clear the cookie when the
 * provider rejects it.
 */
export function createSessionSealer(secrets: readonly string[]): SessionSealer {
  const withDate = createSealer(secrets, 'dated session');
  const withSubject = createSealer(secrets, 'session of a subject');
  const withoutSubject = createSealer(secrets, 'session');
  return {
    seal: ({ token, subject, sealedAtMs }) => {
      if (subject === undefined) return withoutSubject.seal(token);
      if (sealedAtMs === undefined) return withSubject.seal(JSON.stringify([subject, token]));
      return withDate.seal(JSON.stringify([subject, token, sealedAtMs]));
    },
    unseal: (sealed) => {
      const datedText = withDate.unseal(sealed);
      if (datedText !== undefined) {
        const [subject, token, sealedAtMs] = dated.parse(JSON.parse(datedText));
        return { token, subject, sealedAtMs };
      }
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
