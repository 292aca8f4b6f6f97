/**
 * The operator's session: a cookie with an expiry time, signed with a key derived from CONSOLE_TOKEN. It needs no server state, so
 * any process can verify it, and a new token ends all sessions. The session of an operator by address also ends when the settings no
 * longer name the address, and has the role that they name now. The session of an operator by claim carries the role that the token
 * had, and ends when the settings of claims change.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { matchSecret } from '#platform/access/access.ts';
import type { Clock } from '#platform/clock.ts';
import { type NamedOperator, type OperatorRoles, type Role, roleNamed } from './operators/roles.ts';
import { consoleProblems } from './problems.ts';

export interface Operator {
  /** The email address, or `console` for a session of CONSOLE_TOKEN. */
  readonly name: string;
  readonly role: Role;
  readonly beganAt?: Date;
}

export type Sessions = ReturnType<typeof createSessions>;

const cookieName = 'atelier_console';
const tokenS = 7 * 24 * 3600;
/** Shorter, because the identity provider may have closed the account. */
const identityS = 12 * 3600;
const holderOfToken: Operator = { name: 'console', role: 'full' };

/** An empty token allows no sessions. */
export function createSessions(token: string, isHttps: boolean, clock: Clock, roles: OperatorRoles) {
  const matches = matchSecret([token]);
  const key = Buffer.from(hkdfSync('sha256', token, '', 'atelier console session', 32));
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  /** Part of the signed text only, so a session does not outlast the setting that it is based on. */
  const basisOf = (claimedRole: string | undefined) => (claimedRole === undefined ? '' : ` ${roles.claimSettings}`);
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;
  const cookie = (text: string, maxAgeS: number, basis = '') =>
    `${cookieName}=${text}.${sign(text + basis)}; Max-Age=${maxAgeS}; ${attributes}`;
  const expiryIn = (seconds: number) => String(Math.floor(clock.now() / 1000) + seconds);

  /** `<expiry>.<signature>`, `<expiry>.<name>.<signature>`, or `<expiry>.<name>.<role>.<signature>`. */
  const open = (value: string): Operator | undefined => {
    const end = value.lastIndexOf('.');
    const text = value.slice(0, Math.max(0, end));
    const [expiry = '', encodedName, claimedRole] = text.split('.', 3);
    if (!/^\d{1,12}$/.test(expiry) || Number(expiry) * 1000 <= clock.now()) return undefined;
    if (!sameText(sign(text + basisOf(claimedRole)), value.slice(end + 1))) return undefined;
    if (encodedName === undefined) return holderOfToken;
    const name = Buffer.from(encodedName, 'base64url').toString('utf8');
    const role = claimedRole === undefined ? roles.ofAddress(name) : roleNamed(claimedRole);
    return role && { name, role, beganAt: new Date((Number(expiry) - identityS) * 1000) };
  };

  return {
    /**
     * Returns the `Set-Cookie` line of a new session. Throws 401 `wrong_token`. Attempts are not limited: the token is too long to
     * guess, and a limit would let an attacker lock the operator out.
     */
    begin(candidate: string): string {
      if (token === '' || !matches(candidate)) throw consoleProblems.wrong_token();
      return cookie(expiryIn(tokenS), tokenS);
    },
    /** Returns the `Set-Cookie` line of a session of a named operator. Without CONSOLE_TOKEN, throws 401 `wrong_token`. */
    beginAs({ name, claimedRole }: NamedOperator): string {
      if (token === '') throw consoleProblems.wrong_token();
      const text = `${expiryIn(identityS)}.${Buffer.from(name).toString('base64url')}`;
      return cookie(claimedRole === undefined ? text : `${text}.${claimedRole}`, identityS, basisOf(claimedRole));
    },
    /** Returns the operator of the `Cookie` header, or `undefined`. */
    find(header = ''): Operator | undefined {
      if (token === '') return undefined;
      const pairs = header.split(';').map((pair) => pair.trim().split('=', 2));
      const values = pairs.flatMap(([name, value = '']) => (name === cookieName ? value : []));
      return values.map(open).find((operator) => operator !== undefined);
    },
    /** The `Set-Cookie` line that ends the session in this browser. */
    ending: `${cookieName}=; Max-Age=0; ${attributes}`,
  };
}

const sameText = (expected: string, candidate: string) => matchSecret([expected])(candidate);
