/**
 * The real identity provider: Supabase's GoTrue, with a social provider that signs in the email that it was last given.
 * `GOTRUE_TEST_PROGRAM` is its program (`go build` in a checkout of supabase/auth), with its folder `migrations` beside it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import pg from 'pg';
import { createPostgresDatabase } from '../database.fixture.ts';
import { freePort } from '../ports.fixture.ts';

const program = process.env.GOTRUE_TEST_PROGRAM;
export const skipWithoutGoTrue = !program;

export interface GoTrue {
  /** Without `/auth/v1`. */
  readonly url: string;
  readonly anonKey: string;
  /** Who signs in next. */
  email: string;
  /** A call of GoTrue's admin API. */
  admin(method: string, path: string, body?: object): Promise<Response>;
  close(): Promise<void>;
}

/** `redirectUrls`: patterns of GoTrue's allow list. */
export async function startGoTrue(redirectUrls: readonly string[]): Promise<GoTrue> {
  const database = await createPostgresDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('create schema auth');
  await client.end();

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' };
  const social = await serve((incoming, response) => answerAsSocialProvider(gotrue.email, incoming, response));
  const port = await freePort();
  const gateway = await serve((incoming, response) => passOn(port, incoming, response));
  const url = `http://localhost:${gateway.port}`;
  const env = {
    PATH: process.env.PATH ?? '',
    GOTRUE_API_HOST: '127.0.0.1',
    PORT: String(port),
    API_EXTERNAL_URL: `${url}/auth/v1`,
    GOTRUE_SITE_URL: `${url}/site`,
    GOTRUE_URI_ALLOW_LIST: redirectUrls.join(','),
    GOTRUE_DB_DRIVER: 'postgres',
    DB_NAMESPACE: 'auth',
    GOTRUE_DB_NAMESPACE: 'auth',
    DATABASE_URL: `${database.url}?search_path=auth`,
    GOTRUE_DB_MIGRATIONS_PATH: join(dirname(program ?? ''), 'migrations'),
    GOTRUE_JWT_SECRET: 'only for the admin API of the tests',
    GOTRUE_JWT_KEYS: JSON.stringify([{ ...key, key_ops: ['sign', 'verify'] }]),
    GOTRUE_JWT_AUD: 'authenticated',
    GOTRUE_JWT_ISSUER: `${url}/auth/v1`,
    GOTRUE_JWT_EXP: '3600',
    GOTRUE_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    GOTRUE_EXTERNAL_KEYCLOAK_ENABLED: 'true',
    GOTRUE_EXTERNAL_KEYCLOAK_CLIENT_ID: 'client',
    GOTRUE_EXTERNAL_KEYCLOAK_SECRET: 'secret',
    GOTRUE_EXTERNAL_KEYCLOAK_URL: `http://localhost:${social.port}`,
    GOTRUE_EXTERNAL_KEYCLOAK_REDIRECT_URI: `${url}/auth/v1/callback`,
    GOTRUE_RATE_LIMIT_TOKEN_REFRESH: '100000',
    GOTRUE_OAUTH_SERVER_ENABLED: 'true',
    GOTRUE_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
    GOTRUE_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
    GOTRUE_LOG_LEVEL: 'error',
  };
  execFileSync(String(program), ['migrate'], { env, stdio: 'pipe' });
  const child = spawn(String(program), ['serve'], { env, stdio: 'ignore' });
  for (const startedAtMs = performance.now(); ; await sleep(50)) {
    if (await isHealthy(port)) break;
    if (child.exitCode !== null || performance.now() - startedAtMs > 30_000) throw new Error('GoTrue does not start');
  }

  const adminToken = () =>
    new SignJWT({ role: 'service_role', aud: 'authenticated' })
      .setProtectedHeader({ alg: 'ES256', kid: key.kid })
      .setExpirationTime('1h')
      .sign(privateKey);
  const gotrue: GoTrue = {
    url,
    anonKey: 'GoTrue does not check it',
    email: 'ada@example.com',
    admin: async (method, path, body) =>
      fetch(`${url}/auth/v1/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${await adminToken()}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      for (const server of [social, gateway]) server.close();
      await database.drop();
    },
  };
  return gotrue;
}

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function serve(handler: Handler): Promise<{ readonly port: number; close(): void }> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** Keycloak, as far as GoTrue calls it. The user consents at once. */
function answerAsSocialProvider(email: string, { url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (pathname.endsWith('/auth')) {
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.search = String(new URLSearchParams({ code: email, state: searchParams.get('state') ?? '' }));
    response.writeHead(302, { location: String(back) }).end();
    return;
  }
  const answer = pathname.endsWith('/token')
    ? { access_token: email, token_type: 'Bearer', expires_in: 3600 }
    : { sub: email, email, email_verified: true, name: 'Ada' };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

/** As a gateway does: GoTrue knows no `/auth/v1`. */
function passOn(port: number, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = incoming;
  const path = url.replace(/^\/auth\/v1/, '') || '/';
  const call = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  call.on('error', () => response.destroy());
  incoming.pipe(call);
}

async function isHealthy(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}
