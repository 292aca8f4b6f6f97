/**
 * The operator's session: a cookie with an expiry time, signed with a key derived from CONSOLE_TOKEN. It needs no server state, so
 * any process can verify it, and a new token ends all sessions.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { matchSecret } from '#platform/access/secrets.ts';
import type { Clock } from '#platform/clock.ts';
import { consoleProblems } from './problems.ts';

export interface Sessions {
  /**
   * Returns the `Set-Cookie` line of a new session. Throws 401 `wrong_token`. Attempts are not limited: the token is too long to
   * guess, and a limit would let an attacker lock the operator out.
   */
  begin(token: string): string;
  /** Reports whether the `Cookie` header contains a valid session. */
  isOperator(cookieHeader: string | undefined): boolean;
  /** The `Set-Cookie` line that ends the session in this browser. */
  readonly ending: string;
}

const cookieName = 'atelier_console';
const sessionS = 7 * 24 * 3600;

/** An empty token allows no sessions. */
export function createSessions(token: string, isHttps: boolean, clock: Clock): Sessions {
  const matches = matchSecret([token]);
  const key = Buffer.from(hkdfSync('sha256', token, '', 'atelier console session', 32));
  const sign = (expiry: string) => createHmac('sha256', key).update(expiry).digest('base64url');
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;

  return {
    begin(candidate) {
      if (token === '' || !matches(candidate)) throw consoleProblems.wrong_token();
      const expiry = String(Math.floor(clock.now() / 1000) + sessionS);
      return `${cookieName}=${expiry}.${sign(expiry)}; Max-Age=${sessionS}; ${attributes}`;
    },
    isOperator(header = '') {
      if (token === '') return false;
      return header.split(';').some((pair) => {
        const [name, value = ''] = pair.trim().split('=', 2);
        if (name !== cookieName) return false;
        const [expiry = '', signature = ''] = value.split('.', 2);
        return /^\d{1,12}$/.test(expiry) && Number(expiry) * 1000 > clock.now() && sameText(sign(expiry), signature);
      });
    },
    ending: `${cookieName}=; Max-Age=0; ${attributes}`,
  };
}

const sameText = (expected: string, candidate: string) => matchSecret([expected])(candidate);
