import { describe, expect, it } from 'vitest';
import { publicAuthUrlOf, readConfig, redirectOriginsOf, warningsOf } from '#app/config.ts';
import { ConfigFault } from '#platform/config.ts';

const read = (environment: Record<string, string>) =>
  readConfig({ ATELIER_DATA_DIR: '/nowhere', ...environment }, ['auth'], { keepSecrets: false });

describe('the settings of the authentication service', () => {
  it('include the console and a development server by default', () => {
    const config = read({ ATELIER_PORT_BASE: '5000' });
    expect(redirectOriginsOf(config)).toEqual([
      'http://localhost:5000',
      'http://127.0.0.1:5000',
      'http://localhost:3000',
      'http://localhost:*',
    ]);
    expect(publicAuthUrlOf(config)).toBe('http://localhost:5003');
    expect(config.auth.socialProvider).toBe('google');
    expect(config.auth.cookieSecrets).toHaveLength(1);
  });

  it('normalize origins as browsers do', () => {
    const config = read({
      ALLOWED_REDIRECT_ORIGINS: ' https://App.example.com:443/ ,http://localhost:3000',
      DEFAULT_REDIRECT_ORIGIN: 'HTTPS://studio.example.com',
      PUBLIC_BASE_URL: 'https://auth.example.com/',
      COOKIE_SECRETS: 'new , old',
      COOKIE_DOMAIN: '.example.com',
      IDP_URL: 'https://idp.example.com',
    });
    expect(redirectOriginsOf(config)).toEqual(['https://app.example.com', 'http://localhost:3000']);
    expect(config.auth).toMatchObject({
      defaultOrigin: 'https://studio.example.com',
      cookieSecrets: ['new', 'old'],
      cookieDomain: '.example.com',
    });
    expect(publicAuthUrlOf(config)).toBe('https://auth.example.com');
  });

  it('include any port of this machine only with the local identity provider, outside production', () => {
    const origins = (environment: Record<string, string>) =>
      redirectOriginsOf(read({ ALLOWED_REDIRECT_ORIGINS: 'https://app.example.com', ...environment }));
    expect(origins({})).toEqual(['https://app.example.com', 'http://localhost:*']);
    expect(origins({ IDP_URL: 'https://idp.example.com' })).toEqual(['https://app.example.com']);
  });

  it.each([
    ['ALLOWED_REDIRECT_ORIGINS', 'http://localhost:*'],
    ['ALLOWED_REDIRECT_ORIGINS', '*'],
    ['ALLOWED_REDIRECT_ORIGINS', 'https://*.example.com'],
    ['ALLOWED_REDIRECT_ORIGINS', 'https://app.example.com/path'],
    ['ALLOWED_REDIRECT_ORIGINS', 'https://user@app.example.com'],
    ['ALLOWED_REDIRECT_ORIGINS', 'app.example.com'],
    ['ALLOWED_REDIRECT_ORIGINS', 'javascript:x'],
    ['ALLOWED_REDIRECT_ORIGINS', ','],
    ['DEFAULT_REDIRECT_ORIGIN', 'https://app.example.com?x'],
    ['COOKIE_DOMAIN', 'example.com; Path=/x'],
    ['COOKIE_DOMAIN', 'https://example.com'],
    ['COOKIE_SECRETS', ' , '],
    ['PUBLIC_BASE_URL', 'auth.example.com'],
  ])('%s cannot be %j', (variable, value) => {
    expect(() => read({ [variable]: value })).toThrow(variable);
  });

  it('are all reported together as missing in production', () => {
    for (const variable of [
      'COOKIE_SECRETS',
      'IDP_URL',
      'ANON_KEY',
      'PUBLIC_BASE_URL',
      'ALLOWED_REDIRECT_ORIGINS',
      'DATABASE_URL',
    ])
      expect(() => read({ NODE_ENV: 'production' })).toThrow(variable);
  });

  describe('whose cookies do not reach a front end', () => {
    const environment = {
      COOKIE_DOMAIN: '.Example.com',
      PUBLIC_BASE_URL: 'https://auth.example.com',
      ALLOWED_REDIRECT_ORIGINS: 'https://example.com,https://app.example.com:8443',
    };
    const faultsOf = (changes: Record<string, string>) => {
      try {
        read({ ...environment, ...changes, NODE_ENV: 'production' });
      } catch (error) {
        if (error instanceof ConfigFault) return error.faults.filter((fault) => fault.startsWith('COOKIE_DOMAIN'));
      }
      return [];
    };

    it.each([
      [{}, []],
      [{ COOKIE_DOMAIN: '' }, []],
      [{ PUBLIC_BASE_URL: 'https://auth.example.org' }, ['auth.example.org in PUBLIC_BASE_URL']],
      [{ PUBLIC_BASE_URL: 'https://myexample.com' }, ['myexample.com in PUBLIC_BASE_URL']],
      [
        { ALLOWED_REDIRECT_ORIGINS: 'https://app.example.com,https://app.other.net:8443,http://localhost:3000' },
        ['app.other.net:8443 in ALLOWED_REDIRECT_ORIGINS', 'localhost:3000 in ALLOWED_REDIRECT_ORIGINS'],
      ],
      [{ COOKIE_DOMAIN: 'auth.example.com' }, ['example.com in ALLOWED', 'app.example.com:8443 in ALLOWED']],
    ])('are faults in production, and warnings otherwise: %j', (changes, expected) => {
      const found = expected.map((text) => expect.stringContaining(`does not cover ${text}`));
      expect(faultsOf(changes)).toEqual(found);
      expect(warningsOf({ ...environment, ...changes }, ['auth'])).toEqual(found);
      expect(() => read({ ...environment, ...changes })).not.toThrow();
      expect(warningsOf({ ...environment, ...changes, NODE_ENV: 'production' }, ['auth'])).toEqual([]);
      expect(warningsOf({ ...environment, ...changes }, ['media'])).toEqual([]);
    });

    it('are reported together with other faults', () => {
      expect(() => read({ ...environment, COOKIE_DOMAIN: 'other.net', NODE_ENV: 'production' })).toThrow(
        /missing in production: .*COOKIE_DOMAIN is other\.net/,
      );
    });

    it('warn at the local URL', () => {
      expect(warningsOf({ COOKIE_DOMAIN: 'example.com' }, ['auth'])).toEqual([expect.stringContaining('localhost')]);
    });
  });
});
