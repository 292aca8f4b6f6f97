/**
 * The operator's session: a cookie with an expiry time, signed with a key derived from CONSOLE_TOKEN. It needs no server state, so
 * any process can verify it, and a new token ends all sessions. The session of a named operator also ends when the settings no
 * longer name them, and has the role that they name now.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { matchSecret } from '#platform/access/secrets.ts';
import type { Clock } from '#platform/clock.ts';
import { consoleProblems } from './problems.ts';

/** A `reader` changes nothing. */
export type Role = 'full' | 'reader';

export interface Operator {
  /** The email address, or `console` for a session of CONSOLE_TOKEN. */
  readonly name: string;
  readonly role: Role;
}

export interface Sessions {
  /**
   * Returns the `Set-Cookie` line of a new session. Throws 401 `wrong_token`. Attempts are not limited: the token is too long to
   * guess, and a limit would let an attacker lock the operator out.
   */
  begin(token: string): string;
  /** Returns the `Set-Cookie` line of a session of a named operator. Without CONSOLE_TOKEN, throws 401 `wrong_token`. */
  beginAs(operator: Pick<Operator, 'name'>): string;
  /** Returns the operator of the `Cookie` header, or `undefined`. */
  find(cookieHeader: string | undefined): Operator | undefined;
  /** Reports whether the `Cookie` header contains a valid session. */
  isOperator(cookieHeader: string | undefined): boolean;
  /** The `Set-Cookie` line that ends the session in this browser. */
  readonly ending: string;
}

const cookieName = 'atelier_console';
const tokenS = 7 * 24 * 3600;
/** Shorter, because the identity provider may have closed the account. */
const identityS = 12 * 3600;
const holderOfToken: Operator = { name: 'console', role: 'full' };

/** An empty token allows no sessions. `roleOf`: `undefined` for addresses that are not operators. */
export function createSessions(
  token: string,
  isHttps: boolean,
  clock: Clock,
  roleOf: (email: string) => Role | undefined = () => undefined,
): Sessions {
  const matches = matchSecret([token]);
  const key = Buffer.from(hkdfSync('sha256', token, '', 'atelier console session', 32));
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;
  const cookie = (text: string, maxAgeS: number) =>
    `${cookieName}=${text}.${sign(text)}; Max-Age=${maxAgeS}; ${attributes}`;
  const expiryIn = (seconds: number) => String(Math.floor(clock.now() / 1000) + seconds);

  /** `<expiry>.<signature>`, or `<expiry>.<name>.<signature>`. */
  const open = (value: string): Operator | undefined => {
    const end = value.lastIndexOf('.');
    const text = value.slice(0, Math.max(0, end));
    const [expiry = '', encodedName] = text.split('.', 2);
    if (!/^\d{1,12}$/.test(expiry) || Number(expiry) * 1000 <= clock.now()) return undefined;
    if (!sameText(sign(text), value.slice(end + 1))) return undefined;
    if (encodedName === undefined) return holderOfToken;
    const name = Buffer.from(encodedName, 'base64url').toString('utf8');
    const role = roleOf(name);
    return role && { name, role };
  };

  const find = (header = ''): Operator | undefined => {
    if (token === '') return undefined;
    for (const pair of header.split(';')) {
      const [name, value = ''] = pair.trim().split('=', 2);
      const operator = name === cookieName ? open(value) : undefined;
      if (operator !== undefined) return operator;
    }
    return undefined;
  };

  return {
    begin(candidate) {
      if (token === '' || !matches(candidate)) throw consoleProblems.wrong_token();
      return cookie(expiryIn(tokenS), tokenS);
    },
    beginAs({ name }) {
      if (token === '') throw consoleProblems.wrong_token();
      return cookie(`${expiryIn(identityS)}.${Buffer.from(name).toString('base64url')}`, identityS);
    },
    find,
    isOperator: (header) => find(header) !== undefined,
    ending: `${cookieName}=; Max-Age=0; ${attributes}`,
  };
}

const sameText = (expected: string, candidate: string) => matchSecret([expected])(candidate);
