/** `npm run doctor` with servers that accept one key and record their callers. */

import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doctor as doctorCommand } from '#commands/doctor.ts';
import { version } from '#platform/version.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { newPlace, type Place, run } from '../acceptance/running.fixture.ts';
import { dataLines } from '../agent/providers/wire.fixture.ts';

const key = 'the-right-key';
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const tokenKey = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' };
const word = { choices: [{ index: 0, delta: { content: 'Ready' }, finish_reason: null }] };

interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly userAgent: string | undefined;
  readonly body: string;
}

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

let place: Place;
let url: string;
let requests: RecordedRequest[];
/** Overrides responses by `METHOD /path`. */
let overrides: Readonly<Record<string, Respond>>;
const say =
  (status: number, body: unknown = {}) =>
  (_request: unknown, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString('latin1');
  const [path = ''] = (request.url ?? '').split('?');
  requests.push({ method: request.method ?? '', path, userAgent: request.headers['user-agent'], body });
  const special = overrides[`${request.method} ${path}`];
  if (special !== undefined) return special(request, response);
  if (path === '/idp/auth/v1/.well-known/jwks.json') return say(200, { keys: [tokenKey] })(request, response);
  if (path.startsWith('/cms/')) return say(200, {})(request, response);
  if (path === '/classifier') return say(200, { match: false })(request, response);
  if (path.startsWith('/imgproxy/') || path.startsWith('/cdn/'))
    return say(path.endsWith('/health') ? 200 : 404)(request, response);
  if (path.startsWith('/s3/')) return say(404)(request, response);
  if (![`Bearer ${key}`].includes(request.headers.authorization ?? '') && request.headers.apikey !== key)
    return say(401, { error: { message: 'wrong key' } })(request, response);
  if (path === '/models/embeddings') return say(200, { data: [{ index: 0, embedding: [1, 2, 3] }] })(request, response);
  if (path === '/models/images/generations' || path === '/models/videos')
    return say(400, { error: { message: 'The prompt is empty.' } })(request, response);
  if (path === '/models/chat/completions') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(dataLines(word, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  }
  if (path === '/mail/emails') return say(422)(request, response);
  return say(200)(request, response);
});

beforeAll(async () => {
  place = await newPlace();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
  overrides = {};
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await place.remove();
});

const providers = (): Readonly<Record<string, string>> => ({
  IDP_URL: `${url}/idp`,
  ANON_KEY: key,
  CMS_URL: `${url}/cms`,
  RESEND_BASE_URL: `${url}/mail`,
  RESEND_API_KEY: key,
  MODEL_BASE_URL: `${url}/models`,
  MODEL_API_KEY: key,
  MODEL_NAME: 'one,two',
  IMAGE_MODEL_BASE_URL: `${url}/models`,
  IMAGE_MODEL_API_KEY: key,
  IMAGE_MODEL_NAME: 'painter',
  VIDEO_MODEL_BASE_URL: `${url}/models`,
  VIDEO_MODEL_API_KEY: key,
  VIDEO_MODEL_NAME: 'filmer',
  EMBEDDING_BASE_URL: `${url}/models`,
  EMBEDDING_API_KEY: key,
  EMBEDDING_MODEL: 'embedder',
  MEDIA_SCREENING_URL: `${url}/classifier`,
  IMGPROXY_URL: `${url}/imgproxy`,
  PUBLIC_CDN_URL: `${url}/cdn`,
});

async function doctor(environment: Readonly<Record<string, string>> = {}) {
  return read(await runInProcess(doctorCommand, [], { ...place.env, ...providers(), ...environment }));
}

function read({ code, output }: { readonly code: number | null; readonly output: string }) {
  const lines = output.trim().split('\n');
  const lineOf = (name: string) => lines.find((line) => line.slice(7).startsWith(name)) ?? '';
  return { code, lines, lineOf };
}

const names = [
  ...['database', 'redis', 'objects', 'legacy', 'resizing', 'cdn', 'identity', 'cms', 'mail', 'model', 'image model'],
  ...['video model', 'embeddings', 'screening', 'classifier', 'quarantine', 'ffmpeg'],
];

describe('doctor', { timeout: 90_000 }, () => {
  it('prints one line for each engine and provider, and probes each of them', async () => {
    const program = run('doctor', [], { ...place.env, ...providers() });
    const { code, lines, lineOf } = read({ code: await program.ended(60_000), output: program.output() });
    expect(code, lines.join('\n')).toBe(0);
    for (const name of names) expect(lineOf(`${name} `), name).toMatch(/^(ok|warn) /);
    const endpoints = requests.map(({ method, path }) => `${method} ${path}`);
    expect(endpoints).toEqual(
      expect.arrayContaining([
        'GET /idp/auth/v1/.well-known/jwks.json',
        'GET /idp/auth/v1/settings',
        'GET /cms/api/cached/announcements',
        'POST /mail/emails',
        'POST /models/images/generations',
        'POST /models/videos',
        'POST /models/embeddings',
        'POST /classifier',
        'GET /imgproxy/health',
        'GET /cdn/img/doctor',
      ]),
    );
    const chats = requests.filter(({ path }) => path === '/models/chat/completions');
    expect(chats.map(({ body }) => JSON.parse(body).model).sort()).toEqual(['one', 'two']);
  });

  it('sends a User-Agent with every request', async () => {
    const s3 = { S3_BUCKET: 'a', S3_PUBLIC_BUCKET: 'b', S3_ACCESS_KEY_ID: 'c', S3_SECRET_ACCESS_KEY: 'd' };
    await doctor({ ...s3, S3_ENDPOINT: `${url}/s3` });
    expect(requests.some(({ path }) => path.startsWith('/s3/'))).toBe(true);
    expect([...new Set(requests.map(({ userAgent }) => userAgent))]).toEqual([`Atelier/${version}`]);
  });

  it('reports each rejected key', async () => {
    const rejected = [
      ['ANON_KEY', 'identity'],
      ['RESEND_API_KEY', 'mail'],
      ['MODEL_API_KEY', 'model'],
      ['IMAGE_MODEL_API_KEY', 'image model'],
      ['VIDEO_MODEL_API_KEY', 'video model'],
      ['EMBEDDING_API_KEY', 'embeddings'],
    ] as const;
    const wrong = Object.fromEntries(rejected.map(([variable]) => [variable, 'a-wrong-key']));
    const { code, lines, lineOf } = await doctor(wrong);
    expect(code).toBe(1);
    for (const [variable, name] of rejected)
      expect(lineOf(`${name} `), name).toMatch(new RegExp(`^FAULT .*${variable}`));
    // Each of the two models has a line.
    expect([lineOf('model one'), lineOf('model two')]).toEqual(Array(2).fill(expect.stringMatching(/^FAULT /)));
    expect(lines.filter((line) => line.startsWith('FAULT'))).toHaveLength(rejected.length + 1);
    expect(lines.join('\n')).not.toContain('a-wrong-key');
  });

  // The responses of one row are sent in one run, because they belong to different endpoints.
  it.each<readonly (readonly [string, string, 'FAULT' | 'warn' | 'ok', Respond])[]>([
    [
      ['cms', 'GET /cms/api/cached/announcements', 'FAULT', say(404)],
      ['identity', 'GET /idp/auth/v1/settings', 'FAULT', say(401)],
      ['model', 'POST /models/chat/completions', 'FAULT', say(404)],
      ['image model', 'POST /models/images/generations', 'FAULT', say(500)],
      ['classifier', 'POST /classifier', 'FAULT', say(200, { match: true })],
      ['resizing', 'GET /imgproxy/health', 'FAULT', say(503)],
      ['cdn', 'GET /cdn/img/doctor', 'FAULT', say(502)],
      ['mail', 'POST /mail/emails', 'FAULT', say(404)],
    ],
    [
      ['cms', 'GET /cms/api/cached/announcements', 'FAULT', say(503)],
      ['classifier', 'POST /classifier', 'FAULT', say(401)],
    ],
    [
      ['cms', 'GET /cms/api/cached/announcements', 'FAULT', (_request, response) => void response.end('<html>')],
      ['classifier', 'POST /classifier', 'FAULT', say(200, 'something else')],
    ],
    [
      ['identity', 'GET /idp/auth/v1/settings', 'warn', say(404)],
      ['model', 'POST /models/chat/completions', 'warn', say(429)],
      [
        'image model',
        'POST /models/images/generations',
        'warn',
        say(400, { error: { message: 'The model sdxl is not available: CUDA out of memory.' } }),
      ],
      ['mail', 'POST /mail/emails', 'ok', say(429)],
    ],
  ])('reports how the providers respond: %#', async (...responses) => {
    overrides = Object.fromEntries(responses.map(([, endpoint, , respond]) => [endpoint, respond]));
    const { code, lineOf } = await doctor();
    const states = responses.map(([name]) => [name, lineOf(`${name} `).split(' ')[0]]);
    expect(states).toEqual(responses.map(([name, , state]) => [name, state]));
    expect(code).toBe(responses.some(([, , state]) => state === 'FAULT') ? 1 : 0);
  });

  it('closes an endless answer of a model at its first word', async () => {
    const respond = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(dataLines(word));
    overrides = { 'POST /models/chat/completions': respond };
    const { code, lineOf } = await doctor({ MODEL_NAME: 'one' });
    expect([code, lineOf('model ')]).toEqual([0, expect.stringMatching(/^ok /)]);
  });

  it('reports a wrong signature of imgproxy', async () => {
    const real = server.listeners('request')[0] as (request: IncomingMessage, response: ServerResponse) => void;
    const guarded = (request: IncomingMessage, response: ServerResponse) =>
      request.url?.includes('/plain/s3:') ? say(403)(request, response) : real(request, response);
    server.removeAllListeners('request').on('request', guarded);
    try {
      expect((await doctor()).lineOf('resizing ')).toMatch(/^FAULT .*IMGPROXY_KEY/);
    } finally {
      server.removeAllListeners('request').on('request', real);
    }
  });

  it('signs in at the SMTP server, and sends nothing', async () => {
    const mails: string[] = [];
    const smtp = new SMTPServer({
      authMethods: ['PLAIN'],
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) =>
        password === key ? done(null, { user: 'u' }) : done(Object.assign(new Error('no'), { responseCode: 535 })),
      onMailFrom: ({ address }, _session, done) => {
        mails.push(address);
        done();
      },
    });
    await new Promise<void>((listening) => smtp.listen(0, '127.0.0.1', listening));
    const { port } = smtp.server.address() as AddressInfo;
    const at = (password: string) => ({ RESEND_API_KEY: '', SMTP_URL: `smtp://user:${password}@127.0.0.1:${port}` });
    try {
      expect((await doctor(at(key))).lineOf('mail ')).toMatch(/^ok /);
      const refused = await doctor(at('a-wrong-password'));
      expect([refused.code, refused.lineOf('mail ')]).toEqual([1, expect.stringMatching(/^FAULT .*SMTP_URL/)]);
      expect(refused.lines.join('\n')).not.toContain('a-wrong-password');
      expect(mails).toEqual([]);
    } finally {
      await new Promise<void>((closed) => smtp.close(closed));
    }
  });

  it('shows no credentials of a URL, and warns about a misspelled setting without its value', async () => {
    const { code, lines } = await doctor({
      CMS_URL: `${url.replace('//', '//user:hunter2@')}/cms`,
      DATABSE_URL: 'postgres://user:hunter2@db/x',
    });
    expect(code).toBe(0);
    expect(lines).toContainEqual(expect.stringMatching(/^warn .*DATABSE_URL.*DATABASE_URL/));
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});
