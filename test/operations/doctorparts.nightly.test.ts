/** `npm run doctor` with every external service broken in one way at a time. No line may say `ok`, and each names a setting. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as forward, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doctor as doctorCommand } from '#commands/doctor.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { newPlace, type Place } from '../acceptance/running.fixture.ts';
import { startForeignServer } from '../agent/mcp.fixture.ts';
import { makeCertificate } from '../certificate.fixture.ts';
import { createProgramDatabase, laneEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeSigner } from '../media/credentials.fixture.ts';
import { openAiModels, startOpenAi } from '../parties/openai.fixture.ts';
import { packageModels, startFal, startGoogle, startReplicate } from '../parties/packages.fixture.ts';
import { listed } from '../platform/objects/objects.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';

/** The parts, and the setting that the line of each names if the server is the wrong one. */
const urlSettings = {
  model: 'MODEL_BASE_URL',
  'image model': 'IMAGE_MODEL_BASE_URL',
  'video model': 'VIDEO_MODEL_BASE_URL',
  'mcp servers': 'AGENT_MCP_SERVERS',
  mail: 'RESEND_BASE_URL',
  cms: 'CMS_URL',
  classifier: 'MEDIA_SCREENING_URL',
  prompts: 'PROMPT_SCREENING_URL',
  identity: 'IDP_URL',
} as const;

/** Every part at `url`. */
const allAt = (url: string): Readonly<Record<string, string>> => ({
  MODEL_BASE_URL: url,
  MODEL_API_KEY: 'a key',
  MODEL_NAME: 'talker',
  IMAGE_MODEL_BASE_URL: url,
  IMAGE_MODEL_API_KEY: 'a key',
  IMAGE_MODEL_NAME: 'painter',
  VIDEO_MODEL_BASE_URL: url,
  VIDEO_MODEL_API_KEY: 'a key',
  VIDEO_MODEL_NAME: 'filmer',
  AGENT_MCP_SERVERS: JSON.stringify({ weather: { url } }),
  AGENT_MCP_ALLOW_PRIVATE: 'true',
  RESEND_BASE_URL: url,
  RESEND_API_KEY: 'a key',
  CMS_URL: url,
  MEDIA_SCREENING_URL: url,
  PROMPT_SCREENING_URL: url,
  PROMPT_SCREENING_API_KEY: 'a key',
  IDP_URL: url,
  ANON_KEY: 'a key',
});

let place: Place;
let openAi: Awaited<ReturnType<typeof startOpenAi>>;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  place = await newPlace();
  openAi = await startOpenAi();
  closers.push(place.remove, openAi.close);
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const broken = createServer((request, response) => {
  request.resume();
  const kind = request.url?.split('/')[1];
  if (kind === 'silent') return;
  if (kind === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>');
  if (kind === 'shape')
    return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":[1]}');
  response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
});

async function doctor(env: Readonly<Record<string, string>>) {
  const { code, output } = await runInProcess(doctorCommand, [], { ...place.env, ...env });
  const lines = output.split('\n');
  return { code, output, lineOf: (name: string) => lines.find((line) => line.slice(7).startsWith(`${name} `)) ?? '' };
}

const faultNaming = (setting: string) => expect.stringMatching(new RegExp(`^FAULT .*\\b${setting}\\b`));

describe('doctor, with every service', { timeout: 120_000 }, () => {
  it.each<[string, string]>([
    ['at a wrong path', 'missing'],
    ['replaced by a web server', 'html'],
    ['replaced by another API', 'shape'],
    // It lasts as long as the doctor waits for a part.
    ...(isNightly ? [['silent', 'silent'] satisfies [string, string]] : []),
  ])('%s', async (_title, path) => {
    const port = broken.listening ? (broken.address() as AddressInfo).port : await listen(broken);
    const { code, lineOf } = await doctor(allAt(`http://127.0.0.1:${port}/${path}`));
    const found = Object.fromEntries(Object.keys(urlSettings).map((name) => [name, lineOf(name)]));
    const wanted = Object.entries(urlSettings).map(([name, setting]) => [name, faultNaming(setting)]);
    expect(found).toEqual(Object.fromEntries(wanted));
    expect(code).toBe(1);
  });

  it.skipIf(skipWithout('openssl'))(
    'behind TLS that this machine does not trust, names NODE_EXTRA_CA_CERTS',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'atelier-doctor-'));
      closers.push(() => rm(folder, { recursive: true }));
      const files = { certificateFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
      makeCertificate(['IP:127.0.0.1'], files);
      const [cert, key] = await Promise.all([readFile(files.certificateFile), readFile(files.keyFile)]);
      const port = await listen(createTlsServer({ cert, key }, (_request, response) => response.end()));
      const { output, lineOf } = await doctor(allAt(`https://127.0.0.1:${port}`));
      for (const [name, setting] of Object.entries(urlSettings)) {
        expect(lineOf(name)).toEqual(faultNaming(setting));
        expect(lineOf(name)).toContain('NODE_EXTRA_CA_CERTS');
      }
      expect(output).not.toContain('--use-system-ca');
    },
  );
});

describe('doctor, with a provider that responds', { timeout: 60_000 }, () => {
  const models = () => ({
    MODEL_BASE_URL: `${openAi.url}/v1`,
    MODEL_API_KEY: openAi.key,
    MODEL_NAME: openAiModels.chat,
    IMAGE_MODEL_BASE_URL: `${openAi.url}/v1`,
    IMAGE_MODEL_API_KEY: openAi.key,
    IMAGE_MODEL_NAME: openAiModels.image,
    VIDEO_MODEL_BASE_URL: `${openAi.url}/v1`,
    VIDEO_MODEL_API_KEY: openAi.key,
    VIDEO_MODEL_NAME: openAiModels.video,
    PROMPT_SCREENING_URL: `${openAi.url}/v1`,
    PROMPT_SCREENING_API_KEY: openAi.key,
    PROMPT_SCREENING_MODEL: openAiModels.moderation,
  });
  const parts = ['model', 'image model', 'video model'] as const;
  const prefixes = { model: 'MODEL', 'image model': 'IMAGE_MODEL', 'video model': 'VIDEO_MODEL' };

  it('finds nothing wrong, and orders neither image nor video', async () => {
    const { code, lineOf } = await doctor(models());
    expect([...parts, 'prompts'].map((name) => lineOf(name).slice(0, 3))).toEqual(['ok ', 'ok ', 'ok ', 'ok ']);
    expect([code, openAi.images, openAi.videos]).toEqual([0, [], []]);
  });

  it.each([
    ['a wrong key', 'API_KEY'],
    ['a wrong name', 'NAME'],
  ])('names the setting of %s', async (_title, suffix) => {
    const wrong = Object.values(prefixes).map((prefix) => [`${prefix}_${suffix}`, 'the-wrong-one']);
    const { output, lineOf } = await doctor({ ...models(), ...Object.fromEntries(wrong) });
    for (const name of parts)
      expect(lineOf(name)).toMatch(new RegExp(`^(?:FAULT|warn) .*\\b${prefixes[name]}_${suffix}\\b`));
    if (suffix === 'API_KEY') expect(output).not.toContain('the-wrong-one');
  });

  it.each(['API_KEY', 'MODEL'])('names a wrong PROMPT_SCREENING_%s', async (suffix) => {
    const { output, lineOf } = await doctor({ ...models(), [`PROMPT_SCREENING_${suffix}`]: 'the-wrong-one' });
    expect(lineOf('prompts')).toEqual(faultNaming(`PROMPT_SCREENING_${suffix}`));
    expect(output).not.toContain('the-wrong-one');
  });

  it('asks packages of the AI SDK without an order, and names the setting of a wrong key, name or URL', async () => {
    const [fal, replicate, google] = await Promise.all([
      startFal(Buffer.of(1)),
      startReplicate(Buffer.of(1)),
      startGoogle(),
    ]);
    closers.push(fal.close, replicate.close, google.close);
    const env = {
      IMAGE_MODEL_PROVIDER: 'fal',
      IMAGE_MODEL_BASE_URL: fal.url,
      IMAGE_MODEL_API_KEY: fal.key,
      IMAGE_MODEL_NAME: packageModels.image,
      IMAGE_MODEL_EDIT_NAME: packageModels.edit,
      VIDEO_MODEL_PROVIDER: 'replicate',
      VIDEO_MODEL_BASE_URL: `${replicate.url}/v1`,
      VIDEO_MODEL_API_KEY: replicate.key,
      VIDEO_MODEL_NAME: packageModels.video,
    };
    const well = await doctor(env);
    expect([well.lineOf('image model'), well.lineOf('video model')]).toEqual([
      expect.stringMatching(/^ok /),
      expect.stringMatching(/^ok /),
    ]);
    expect([fal.orders, replicate.orders]).toEqual([[], []]);
    const keys = await doctor({ ...env, IMAGE_MODEL_API_KEY: 'x', VIDEO_MODEL_API_KEY: 'x' });
    expect(keys.lineOf('image model')).toEqual(faultNaming('IMAGE_MODEL_API_KEY'));
    expect(keys.lineOf('video model')).toEqual(faultNaming('VIDEO_MODEL_API_KEY'));
    const names = await doctor({ ...env, IMAGE_MODEL_EDIT_NAME: 'fal-ai/none/edit', VIDEO_MODEL_NAME: 'maker/none' });
    expect(names.lineOf('image model')).toEqual(faultNaming('IMAGE_MODEL_EDIT_NAME'));
    expect(names.lineOf('video model')).toEqual(faultNaming('VIDEO_MODEL_NAME'));
    // Google refuses a wrong key with 400.
    const gemini = {
      IMAGE_MODEL_PROVIDER: 'google',
      IMAGE_MODEL_BASE_URL: `${google.url}/v1beta`,
      IMAGE_MODEL_NAME: 'gemini-talker',
    };
    const googleKey = await doctor({ ...gemini, IMAGE_MODEL_API_KEY: 'x' });
    expect(googleKey.lineOf('image model')).toEqual(faultNaming('IMAGE_MODEL_API_KEY'));
  });

  it('asks each model of a catalog, and names the entry or the key at fault', async () => {
    const fal = await startFal(Buffer.of(1));
    closers.push(fal.close);
    const folder = await mkdtemp(join(tmpdir(), 'atelier-doctor-'));
    closers.push(() => rm(folder, { recursive: true }));
    const openAiEntry = { baseUrl: `${openAi.url}/v1`, apiKeyEnv: 'CATALOG_TEST_KEY' };
    const entries = [
      { kind: 'image', id: 'first', ...openAiEntry, model: openAiModels.image },
      {
        kind: 'image',
        id: 'second',
        provider: 'fal',
        baseUrl: fal.url,
        apiKeyEnv: 'FAL_TEST_KEY',
        model: packageModels.image,
      },
      { kind: 'image', id: 'drawn', baseUrl: 'offline', model: 'any' },
      { kind: 'video', id: 'clip', ...openAiEntry, model: openAiModels.video },
    ];
    const examineCatalog = async (catalog: readonly object[], keys = {}) => {
      const path = join(folder, 'models.json');
      await writeFile(path, JSON.stringify(catalog));
      return doctor({ MODELS_FILE: path, CATALOG_TEST_KEY: openAi.key, FAL_TEST_KEY: fal.key, ...keys });
    };
    const well = await examineCatalog(entries);
    const lines = ['model', 'image model first', 'image model second', 'image model drawn', 'video model'];
    expect(lines.map(well.lineOf)).toEqual([
      expect.stringMatching(/^ok .*offline model/),
      expect.stringMatching(/^ok .*127\.0\.0\.1/),
      expect.stringMatching(/^ok .*127\.0\.0\.1/),
      expect.stringMatching(/^ok .*offline renderer/),
      expect.stringMatching(/^ok .*127\.0\.0\.1/),
    ]);
    expect([openAi.images, openAi.videos, fal.orders]).toEqual([[], [], []]);
    const keys = await examineCatalog(entries, { CATALOG_TEST_KEY: 'the-wrong-one' });
    expect(lines.slice(1).map(keys.lineOf)).toEqual([
      faultNaming('CATALOG_TEST_KEY'),
      expect.stringMatching(/^ok /),
      expect.stringMatching(/^ok /),
      faultNaming('CATALOG_TEST_KEY'),
    ]);
    const closed = createTcpServer();
    const url = `http://127.0.0.1:${await listen(closed)}/v1`;
    closed.close();
    await once(closed, 'close');
    const dead = await examineCatalog([...entries, { kind: 'video', id: 'dead', baseUrl: url, model: 'any' }]);
    expect([dead.lineOf('video model clip'), dead.lineOf('video model dead')]).toEqual([
      expect.stringMatching(/^ok /),
      expect.stringMatching(/^FAULT .*entry dead of MODELS_FILE/),
    ]);
  });

  it('names a model that the provider does not list', async () => {
    const refusing = createServer((request, response) => {
      request.resume();
      const isList = request.url === '/v1/models';
      const body = isList ? { data: [{ id: 'other' }] } : { error: { message: 'the prompt is too short' } };
      response.writeHead(isList ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const url = `http://127.0.0.1:${await listen(refusing)}/v1`;
    const { lineOf } = await doctor({ IMAGE_MODEL_BASE_URL: url, IMAGE_MODEL_NAME: 'painter' });
    expect(lineOf('image model')).toMatch(/^warn .*IMAGE_MODEL_NAME/);
  });
});

describe.skipIf(skipWithout('openssl'))('doctor, with content credentials', () => {
  it('names the end of the certificate, and a setting that is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-doctor-'));
    closers.push(() => rm(folder, { recursive: true }));
    const { certificate, privateKey } = makeSigner(folder, 'doctor');
    const env = { C2PA_CERTIFICATE: certificate, C2PA_PRIVATE_KEY: privateKey };
    expect((await doctor(env)).lineOf('content credentials')).toMatch(/^ok .*valid until \d{4}-\d\d-\d\d/);
    const swapped = { C2PA_CERTIFICATE: certificate, C2PA_PRIVATE_KEY: certificate };
    expect((await doctor(swapped)).lineOf('configuration')).toEqual(faultNaming('C2PA_PRIVATE_KEY'));
  });
});

describe('doctor, with an MCP server or an SMTP server', { timeout: 60_000 }, () => {
  it('counts tools, and reports a rejected key', async () => {
    const tools = await startForeignServer((server) => {
      server.registerTool('forecast', {}, () => ({ content: [] }));
    });
    closers.push(tools.close);
    const env = { AGENT_MCP_SERVERS: JSON.stringify({ weather: { url: tools.url } }), AGENT_MCP_ALLOW_PRIVATE: 'true' };
    expect((await doctor(env)).lineOf('mcp servers')).toMatch(/^ok .*weather with 1 tool/);
    tools.answerAllWith(401);
    expect((await doctor(env)).lineOf('mcp servers')).toEqual(faultNaming('AGENT_MCP_SERVERS'));
  });

  it.each([
    ['silent', 'smtp', () => undefined],
    ['of another protocol', 'smtp', (write: (text: string) => void) => write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['without TLS', 'smtps', (write: (text: string) => void) => write('220 mail.example.com ESMTP\r\n')],
  ])('reports an SMTP server that is %s', async (_title, protocol, greet) => {
    const sockets = new Set<{ destroy(): void }>();
    const server = createTcpServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      greet((text) => void socket.write(text));
    });
    const port = await listen(server);
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
    });
    const { lineOf } = await doctor({ SMTP_URL: `${protocol}://u:secret-password@127.0.0.1:${port}` });
    expect(lineOf('mail')).toEqual(faultNaming('SMTP_URL'));
    expect(lineOf('mail')).not.toContain('secret-password');
  });
});

describe('doctor, with services at URLs of their own', { timeout: 60_000 }, () => {
  /** Answers `/health` as the service that is first in the path. */
  const healthy = createServer((request, response) => {
    const [, service] = request.url?.split('/') ?? [];
    response.end(service === 'image' ? 'ok' : JSON.stringify({ status: 'ok', service }));
  });
  const names = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge', 'console'];
  const at = (port: number) =>
    Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_URL`, `http://127.0.0.1:${port}/${name}`]));

  it('calls each, and names the setting of one that is missing, or another service', async () => {
    const port = await listen(healthy);
    const env = at(port);
    expect((await doctor(env)).lineOf('services')).toMatch(/^ok /);
    const missing = await doctor({ ...env, MEMORY_URL: 'http://127.0.0.1:1' });
    expect([missing.code, missing.lineOf('services')]).toEqual([1, faultNaming('MEMORY_URL')]);
    const swapped = await doctor({ ...env, AGENT_PUBLIC_URL: env.MEDIA_URL ?? '' });
    expect(swapped.lineOf('services')).toEqual(faultNaming('AGENT_PUBLIC_URL'));
    const { MEMORY_URL, ...rest } = env;
    expect((await doctor(rest)).lineOf('services')).toMatch(/^warn .*\bMEMORY_URL\b/);
  });

  it('reports nothing wrong before the first start', async () => {
    expect((await doctor({})).lineOf('services')).toMatch(/^ok .*no service is running/);
    expect((await doctor({ EDGE_URL: 'http://127.0.0.1:1' })).lineOf('services')).toMatch(/^warn .*\bEDGE_URL\b/);
  });
});

describe.skipIf(skipWithoutS3)('doctor, with an S3 server behind a proxy', { timeout: 60_000 }, () => {
  it('finds out that the proxy refuses the requests of browsers', async () => {
    const bucket = await openTestBucket();
    const variants = await openTestBucket({ isPublic: true });
    closers.push(bucket.close, variants.close);
    let mayBrowsersPass = true;
    const proxy = createServer((incoming, response) => {
      const { method, url, headers } = incoming;
      if (headers.origin !== undefined && !mayBrowsersPass) return response.writeHead(403).end();
      const { hostname, port } = new URL(testServer.endpoint);
      // The signature covers the name of the proxy, which is the one that S3 knows.
      const call = forward({ hostname, port, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      return incoming.pipe(call);
    });
    const port = await listen(proxy);
    const env = {
      S3_ENDPOINT: `http://localhost:${port}`,
      S3_REGION: testServer.region,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
      S3_BUCKET: bucket.bucket,
      S3_PUBLIC_BUCKET: variants.bucket,
    };
    expect((await doctor(env)).lineOf('objects')).toMatch(/^(?:ok|warn) /);
    mayBrowsersPass = false;
    const refused = await doctor(env);
    expect([refused.code, refused.lineOf('objects')]).toEqual([
      1,
      expect.stringMatching(/^FAULT .*PUT .* 403.*S3_ENDPOINT/),
    ]);
    expect(await listed(bucket.objects, '')).toEqual([]);
  });
});

const [database] = laneEngines;

describe.skipIf(skipWithoutS3 || database?.name !== 'postgres' || database.missing !== false)(
  'doctor, on a restored installation',
  () => {
    it('looks for the objects of assets', async () => {
      const [bucket, variants, { url, drop }] = await Promise.all([
        openTestBucket(),
        openTestBucket({ isPublic: true }),
        createProgramDatabase(),
      ]);
      closers.push(bucket.close, variants.close, drop);
      const log = createLog({ level: 'silent' });
      const opened = await openPostgres({ url, poolSize: 1, migrations: [], log });
      const register = (key: string) =>
        sql`
        insert into assets (asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag,
          byte_size, ready_at)
        values (gen_random_uuid(), gen_random_uuid(), 'thread', 't', 'video', 'video/mp4', 'video/mp4', 'objects', ${bucket.bucket},
          ${key}, 'e', 5, now())`.execute(opened.queries());
      await register('u/kept.mp4');
      await bucket.objects.put('u/kept.mp4', Buffer.from('bytes'), { contentType: 'video/mp4' });
      const env = {
        DATABASE_URL: url,
        S3_ENDPOINT: testServer.endpoint,
        S3_REGION: testServer.region,
        S3_ACCESS_KEY_ID: testServer.accessKeyId,
        S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
        S3_BUCKET: bucket.bucket,
        S3_PUBLIC_BUCKET: variants.bucket,
      };
      expect((await doctor(env)).lineOf('objects')).toMatch(/0 of 1 sampled originals are missing/);
      await register('u/lost.mp4');
      await opened.close();
      expect((await doctor(env)).lineOf('objects')).toMatch(/^warn .*1 of 2 sampled originals are missing.*sweep/);
    });
  },
);

describe.skipIf(skipWithoutRedis)('doctor, with Redis', () => {
  it('warns if a restart loses the streams in progress', async () => {
    const redis = await startRedisServer();
    closers.push(redis.close);
    expect((await doctor({ REDIS_URL: redis.url })).lineOf('redis')).toMatch(/^warn .*appendonly yes/);
  });
});
