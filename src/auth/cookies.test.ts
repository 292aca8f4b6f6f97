import { describe, expect, it } from 'vitest';
import { cookieRules } from './cookies.ts';

/** Returns the domain and path of each line. A host-only cookie has no domain. */
const placesOf = (lines: readonly string[]) =>
  lines.map((line) => `${/; Domain=([^;]+)/.exec(line)?.[1] ?? '-'} ${/; Path=([^;]+)/.exec(line)?.[1]}`);

describe('clearing every copy of the session cookie', () => {
  const paths = ['/', '/refresh', '/logout'];
  it.each<[string, string | undefined, string[], string[]]>([
    ['https://auth.example.com', 'example.com', ['example.com', '-', 'auth.example.com'], paths],
    ['https://auth.example.com', undefined, ['-', 'auth.example.com', 'example.com'], paths],
    ['https://a.b.example.com', 'b.example.com', ['b.example.com', '-', 'a.b.example.com', 'example.com'], paths],
    ['http://localhost:4003', undefined, ['-'], paths],
    ['http://127.0.0.1:4003', undefined, ['-'], paths],
    ['http://[::1]:4003', undefined, ['-'], paths],
    [
      'https://example.com/v1/auth',
      undefined,
      ['-', 'example.com'],
      ['/', '/v1', '/v1/', '/v1/auth', '/v1/auth/', '/v1/auth/refresh', '/v1/auth/logout'],
    ],
  ])('at %s with COOKIE_DOMAIN %s', (publicUrl, domain, domains, itsPaths) => {
    const lines = cookieRules({ domain, publicUrl }).clearEverySession();
    expect(placesOf(lines).toSorted()).toEqual(
      domains.flatMap((one) => itsPaths.map((path) => `${one} ${path}`)).toSorted(),
    );
    for (const line of lines) expect(line).toMatch(/^ka_session=; Max-Age=0; Expires=Thu, 01 Jan 1970/);
  });

  it('starts with the cookie that the service itself sets', () => {
    const rules = cookieRules({ domain: 'example.com', publicUrl: 'https://auth.example.com' });
    expect(rules.clearEverySession()[0]).toBe(rules.clearSession());
  });
});
