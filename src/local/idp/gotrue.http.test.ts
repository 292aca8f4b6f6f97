/** The real client library signs in, refreshes and signs out with the local identity provider. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@supabase/supabase-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accountOf } from '#accounts/sampleaccounts.ts';
import { migrations } from '#app/migrations.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import { consent } from '../../../test/auth/browser.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { freePort } from '../../../test/ports.fixture.ts';
import { createIdentityProvider } from './service.ts';

const anonKey = 'the anon key';
const redirectTo = 'http://localhost:5000/callback';
const reuseIntervalS = 1;
/** The library's error for a 403 `session_not_found`. */
const sessionIsGone = 'AuthSessionMissingError';

describe.each(laneEngines)('GoTrue’s wire on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let dataDir: string;
    let idp: HttpServer;
    let url: string;
    let port: number;
    const open = async () => {
      idp = await createIdentityProvider({
        server: { log: createLog({ level: 'silent' }) },
        clock: systemClock,
        settings: { secret: 'secret' },
        dataDir,
        database,
        publicUrl: url,
        redirectUrls: [redirectTo],
        anonKey,
        reuseIntervalS,
      });
      await idp.listen({ port, host: '127.0.0.1' });
    };
    beforeAll(async () => {
      database = await engine.open(migrations);
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-gotrue-'));
      port = await freePort();
      url = `http://localhost:${port}`;
      await open();
    });
    afterAll(async () => {
      await idp.close();
      await database.close();
      await rm(dataDir, { recursive: true });
    });
    afterEach(() => fetch(`${url}/local/faults`, { method: 'DELETE', headers: { 'x-local-secret': 'secret' } }));

    function newClient() {
      const items = new Map<string, string>();
      const storage = {
        getItem: (key: string) => items.get(key) ?? null,
        setItem: (key: string, value: string) => void items.set(key, value),
        removeItem: (key: string) => void items.delete(key),
      };
      return createClient(url, anonKey, {
        auth: { flowType: 'pkce', autoRefreshToken: false, persistSession: true, detectSessionInUrl: false, storage },
      });
    }

    async function signedIn(email = 'ada@example.com') {
      const client = newClient();
      const { data } = await client.auth.signInWithOAuth({
        provider: 'google',
        options: { redirectTo, skipBrowserRedirect: true },
      });
      const page = await fetch(data.url ?? '', { redirect: 'manual' });
      const back = new URL(await consent(page.headers.get('location') ?? '', email));
      expect(back.origin + back.pathname).toBe(redirectTo);
      const exchanged = await client.auth.exchangeCodeForSession(back.searchParams.get('code') ?? '');
      if (exchanged.data.session === null) throw exchanged.error;
      return { client, session: exchanged.data.session };
    }

    const grant = async (type: string, body: unknown) => {
      const response = await fetch(`${url}/auth/v1/token?grant_type=${type}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', apikey: anonKey },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    };
    const refreshWith = (token = '') => grant('refresh_token', { refresh_token: token });

    it('exchange, user, claims, refresh, global sign-out', async () => {
      const { client, session } = await signedIn();
      expect(session).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { email: 'ada@example.com' } });

      const user = await client.auth.getUser();
      expect(user.error).toBeNull();
      expect(user.data.user).toMatchObject({ id: accountOf('ada@example.com').id, role: 'authenticated' });

      const claims = await client.auth.getClaims();
      expect(claims.error).toBeNull();
      expect(claims.data?.claims).toMatchObject({ sub: accountOf('ada@example.com').id, aud: 'authenticated' });
      expect(claims.data?.header.alg).toBe('ES256');

      const refreshed = await client.auth.refreshSession();
      expect(refreshed.error).toBeNull();
      expect(refreshed.data.session?.refresh_token).not.toBe(session.refresh_token);

      const { client: elsewhere, session: other } = await signedIn();
      expect((await client.auth.signOut({ scope: 'global' })).error).toBeNull();
      expect((await elsewhere.auth.getUser()).error?.name).toBe(sessionIsGone);
      expect((await refreshWith(other.refresh_token)).body.error_code).toBe('refresh_token_not_found');
      for (const token of ['a\0b', '\ud800', 'a'.repeat(1025)])
        expect(await refreshWith(token)).toMatchObject({ status: 400, body: { error_code: 'validation_failed' } });
    });

    it('signs out only this session, or the others', async () => {
      const [one, two, three] = [await signedIn(), await signedIn(), await signedIn()];
      await one.client.auth.signOut({ scope: 'local' });
      expect((await two.client.auth.getUser()).error).toBeNull();
      await two.client.auth.signOut({ scope: 'others' });
      expect((await two.client.auth.getUser()).error).toBeNull();
      expect((await three.client.auth.getUser()).error?.name).toBe(sessionIsGone);
    });

    it('preserves sessions over a restart', async () => {
      const { client } = await signedIn();
      await idp.close();
      await open();
      expect((await client.auth.refreshSession()).error).toBeNull();
      expect((await client.auth.getClaims()).error).toBeNull();
    });

    it('returns one token for eight concurrent refreshes', async () => {
      const { session } = await signedIn();
      const responses = await Promise.all(Array.from({ length: 8 }, () => refreshWith(session.refresh_token)));
      expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(new Set(responses.map(({ body }) => body.refresh_token)).size).toBe(1);
    });

    it('returns the active token for the previous one at any time, and for older ones within the interval', async () => {
      const { session } = await signedIn();
      const first = session.refresh_token;
      const second = (await refreshWith(first)).body.refresh_token;
      const third = (await refreshWith(second)).body.refresh_token;
      expect((await refreshWith(first)).body.refresh_token).toBe(third);
      await sleep(reuseIntervalS * 1000 + 200);
      expect((await refreshWith(second)).body.refresh_token).toBe(third);
      expect((await refreshWith(third)).status).toBe(200);
    });

    it('ends the session if an old token is used', async () => {
      const { client, session } = await signedIn();
      const first = session.refresh_token;
      const second = (await refreshWith(first)).body.refresh_token;
      const third = (await refreshWith(second)).body.refresh_token;
      await sleep(reuseIntervalS * 1000 + 200);
      expect((await refreshWith(first)).body).toMatchObject({ code: 400, error_code: 'refresh_token_already_used' });
      expect((await refreshWith(third)).body.error_code).toBe('refresh_token_not_found');
      expect((await client.auth.getUser()).error?.name).toBe(sessionIsGone);
    });

    it.each([
      ['refresh_token', { refresh_token: 'nobody’s' }, 400, 'refresh_token_not_found'],
      ['refresh_token', {}, 400, 'validation_failed'],
      ['refresh_token', '{', 400, 'bad_json'],
      ['pkce', { auth_code: 'x' }, 400, 'validation_failed'],
      ['pkce', { auth_code: 'x', code_verifier: 'y' }, 404, 'flow_state_not_found'],
      ['password', {}, 400, 'validation_failed'],
    ])('%s with %j is %i %s', async (type, body, status, code) => {
      expect(await grant(type, body)).toMatchObject({ status, body: { code: status, error_code: code } });
    });

    it('a wrong verifier does not consume the code, and a code is valid once', async () => {
      const verifier = 'v'.repeat(43);
      const query = new URLSearchParams({
        provider: 'google',
        redirect_to: redirectTo,
        code_challenge: verifier,
        code_challenge_method: 'plain',
        skip_http_redirect: 'true',
      });
      const begun = (await (await fetch(`${url}/auth/v1/authorize?${query}`)).json()) as { url: string };
      const code = new URL(await consent(begun.url)).searchParams.get('code');
      const wrong = await grant('pkce', { auth_code: code, code_verifier: 'w'.repeat(43) });
      expect(wrong).toMatchObject({ status: 400, body: { error_code: 'bad_code_verifier' } });
      expect((await grant('pkce', { auth_code: code, code_verifier: verifier })).status).toBe(200);
      expect((await grant('pkce', { auth_code: code, code_verifier: verifier })).body.error_code).toBe(
        'flow_state_not_found',
      );
      // Consent cannot be given twice either.
      await expect(consent(begun.url)).rejects.toThrow('no form');
    });

    it.each([
      'http://localhost:5000/callback/',
      'http://localhost:5000/callback?x',
      'https://evil.example/',
      'http://localhost:5000.evil.example/callback',
      '//evil.example',
      '',
    ])('redirects to its own address instead of %j', async (elsewhere) => {
      const query = new URLSearchParams({
        provider: 'google',
        redirect_to: elsewhere,
        code_challenge: 'v'.repeat(43),
        code_challenge_method: 'S256',
      });
      const page = await fetch(`${url}/auth/v1/authorize?${query}`, { redirect: 'manual' });
      const back = await consent(page.headers.get('location') ?? '');
      expect(back).toMatch(/^http:\/\/localhost:5000\/callback\?code=/);
    });

    it.each([
      ['no challenge', 'provider=google'],
      ['a short challenge', `provider=google&code_challenge=x&code_challenge_method=s256`],
      ['no provider', `code_challenge=${'v'.repeat(43)}&code_challenge_method=s256`],
    ])('does not start with %s', async (_name, query) => {
      const response = await fetch(`${url}/auth/v1/authorize?${query}`, { redirect: 'manual' });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error_code: 'validation_failed' });
    });

    it.each([
      ['no token', undefined, 401, 'no_authorization'],
      ['not a JWT', 'Bearer x', 403, 'bad_jwt'],
      ['a forged JWT', 'Bearer eyJhbGciOiJFUzI1NiJ9.e30.AAAA', 403, 'bad_jwt'],
    ])('with %s there is neither user nor logout', async (_name, authorization, status, code) => {
      for (const [method, path] of [
        ['GET', '/user'],
        ['POST', '/logout?scope=global'],
      ] as const) {
        const response = await fetch(`${url}/auth/v1${path}`, {
          method,
          headers: authorization === undefined ? {} : { authorization },
        });
        expect([response.status, (await response.json()) as unknown]).toEqual([
          status,
          { code: status, error_code: code, msg: expect.any(String) },
        ]);
      }
    });

    it('rejects another API key', async () => {
      const response = await fetch(`${url}/auth/v1/.well-known/jwks.json`, { headers: { apikey: 'another' } });
      expect([response.status, await response.json()]).toEqual([
        401,
        { code: 401, error_code: 'invalid_api_key', msg: 'Invalid API key' },
      ]);
    });

    it('faults require the secret', async () => {
      const body = JSON.stringify({ operation: 'jwks', kind: 'answer', status: 503 });
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(`${url}/local/faults`, { method: 'POST', headers, body })).status).toBe(401);
      const response = await fetch(`${url}/local/faults`, {
        method: 'POST',
        headers: { ...headers, 'x-local-secret': 'secret' },
        body,
      });
      expect(response.status).toBe(204);
      const keys = () => fetch(`${url}/auth/v1/.well-known/jwks.json`);
      expect([(await keys()).status, (await keys()).status]).toEqual([503, 200]);
    });
  });
});
