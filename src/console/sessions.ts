/**
 * The operator's session: a cookie that says until when it is good, under a key made from CONSOLE_TOKEN. No state is
 * kept, so any process may judge it, and a new token ends every session.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { matchSecret } from '#platform/access/secrets.ts';
import type { Clock } from '#platform/clock.ts';
import { consoleProblems } from './problems.ts';

export interface Sessions {
  /**
   * The `Set-Cookie` line of a new session. Throws 401 `wrong_token`. Guesses are not counted: a token is too long for
   * them, and counting would let a stranger lock the operator out.
   */
  begin(token: string): string;
  /** Whether the `Cookie` header carries a session that is good now. */
  isOperator(cookieHeader: string | undefined): boolean;
  /** The `Set-Cookie` line that ends it in this browser. */
  readonly ending: string;
}

const cookieName = 'atelier_console';
const sessionS = 7 * 24 * 3600;

/** An empty token opens nothing. */
export function createSessions(token: string, isHttps: boolean, clock: Clock): Sessions {
  const matches = matchSecret([token]);
  const key = Buffer.from(hkdfSync('sha256', token, '', 'atelier console session', 32));
  const sign = (expiry: string) => createHmac('sha256', key).update(expiry).digest('base64url');
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;

  return {
    begin(given) {
      if (token === '' || !matches(given)) throw consoleProblems.wrong_token();
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

const sameText = (expected: string, given: string) => matchSecret([expected])(given);
