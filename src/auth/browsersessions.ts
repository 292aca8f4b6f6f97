/**
 * Which sessions a user has. The identity provider names a session in each of its access tokens, so cookies need no id of their own. A
 * session that its user ended is refused at the next refresh of its browser.
 */
import { decodeJwt } from 'jose';
import { isUuid } from '#platform/ids.ts';
import { withDeadline } from '#platform/resilience.ts';
import type { AuthContext } from './context.ts';
import type { ProviderSession } from './provider.ts';
import { subjectHashOf } from './rotation.ts';
import { recordSessionUse, removeSessions } from './store.ts';

const databaseTimeoutMs = 2000;

/** Returns `undefined` if the provider does not name its sessions. The token is trusted: the provider issued it, or a guard checked it. */
export function sessionIdOf(accessToken: string): string | undefined {
  try {
    const { session_id: id } = decodeJwt(accessToken);
    return typeof id === 'string' && isUuid(id) ? id.toLowerCase() : undefined;
  } catch {
    return undefined;
  }
}

/**
 * `sinceMs`: when the request was checked for an end by an operator. Returns whether the user has ended the session: `false` if it
 * cannot be listed, or if the database does not respond, because that must not sign anyone out.
 */
export async function recordUse(
  { db, log }: Pick<AuthContext, 'db' | 'log'>,
  session: ProviderSession,
  userAgent: string | undefined,
  sinceMs: number,
): Promise<boolean> {
  const sessionId = sessionIdOf(session.access_token);
  const subjectHash = subjectHashOf(session);
  if (sessionId === undefined || session.user === undefined || subjectHash === undefined) return false;
  const use = { sessionId, userId: session.user.id, browser: browserOf(userAgent) };
  try {
    return await withDeadline(databaseTimeoutMs, () => recordSessionUse(db, use, subjectHash, new Date(sinceMs)));
  } catch (error) {
    log.warn({ err: error }, 'the use of a session was not recorded');
    return false;
  }
}

/** After a sign-out of the session, or of all sessions of its user. */
export async function forgetSessions(
  { db }: Pick<AuthContext, 'db'>,
  { access_token, user }: ProviderSession,
  scope: 'global' | 'local',
): Promise<void> {
  const sessionId = sessionIdOf(access_token);
  if (user === undefined || sessionId === undefined) return;
  await removeSessions(db, user.id, scope === 'global' ? undefined : sessionId);
}

/** The first match counts: most browsers also name the browsers with which they are compatible. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Returns a header as words, such as "Firefox on Windows". */
export function browserOf(userAgent = ''): string {
  const nameIn = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = nameIn(systems);
  return `${nameIn(browsers) ?? 'Unknown browser'}${system === undefined ? '' : ` on ${system}`}`;
}
