/**
 * The program as `npm start` starts it, with the services of others that an installation connects: identity provider, models of
 * texts, images and videos, tools, mail and an S3 server. Each speaks the wire of the real one, over HTTP or SMTP.
 */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import sharp from 'sharp';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { credits } from '#commands/credits.ts';
import { token } from '#commands/token.ts';
import { withMark } from '#platform/metadata/metadata.ts';
import { movieMark } from '#platform/metadata/movie.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { newLanePlace, newPlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { type ForeignServer, startForeignServer } from '../agent/mcp.fixture.ts';
import { realServers, type ServedModel } from '../agent/realmodel.fixture.ts';
import { type Chatter, chatter } from '../agent/rig.fixture.ts';
import { textOf } from '../agent/stream.fixture.ts';
import { openBrowser, signIn } from '../auth/browser.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { dropBucket, openTestBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { startIdentityProvider } from './identity.fixture.ts';
import { openAiModels, startOpenAi } from './openai.fixture.ts';
import { packageModels, startFal, startGoogle, startReplicate } from './packages.fixture.ts';

const services = ['media', 'image', 'auth', 'agent', 'memory', 'notify', 'edge'];
const email = 'ada@example.com';
const prices = { run: 1, image: 2, video: 40 };
const appOrigin = 'http://localhost:3000';

/** A user of a program, with the calls that these tests make. */
class User {
  readonly agent: Chatter;
  readonly #media: Chatter;

  constructor({ portBase }: Place, accessToken: string) {
    const credential = { authorization: `Bearer ${accessToken}` };
    const userId = String(decodeJwt(accessToken).sub);
    this.agent = chatter(`http://localhost:${portBase + 4}`, userId, credential);
    this.#media = chatter(`http://localhost:${portBase + 1}`, userId, credential);
  }

  /** Sends a message, and returns the run, its answer, and what it cost. */
  async send(parts: string | readonly object[], more: object = {}) {
    const before = await this.credits();
    const message = { role: 'user', parts: typeof parts === 'string' ? [{ type: 'text', text: parts }] : parts };
    const body = { threadId: randomUUID(), message, ...more };
    const started = await this.agent.call<{ readonly taskId: string }>('POST', '/task', body);
    expect([started.status, started.body]).toEqual([201, expect.anything()]);
    const { taskId } = started.body;
    const { events } = await this.agent.stream(taskId);
    const { status, error } = await this.agent.ended(taskId);
    const messages = await this.agent.messages(body.threadId);
    const answer = messages.find(({ role }) => role === 'assistant');
    return { status, error, text: textOf(events), parts: answer?.parts ?? [], cost: before - (await this.credits()) };
  }

  /** What a tool of a run returned. */
  async use(tool: string, args: object, attachments: readonly object[] = []) {
    const text = { type: 'text', text: `Use ${tool} ${JSON.stringify(args)}` };
    const turn = await this.send([...attachments, text]);
    expect([turn.status, turn.error]).toEqual(['completed', null]);
    const part = turn.parts.find(({ type }) => type === `tool-${tool}` || type === 'dynamic-tool');
    return { ...turn, output: part?.output as Readonly<Record<string, unknown>> };
  }

  async credits(): Promise<number> {
    return (await this.agent.call<{ readonly credits: number }>('GET', '/credits')).body.credits;
  }

  async upload(bytes: Uint8Array): Promise<string> {
    const what = { scopeKind: 'feed', scopeId: randomUUID(), kind: 'image', mime: 'image/png' };
    const { body } = await this.#media.call<{ uploadUrl: string; headers: object; assetId: string }>(
      'POST',
      '/v1/uploads',
      what,
    );
    const put = { method: 'PUT', headers: { ...body.headers }, body: new Uint8Array(bytes) };
    expect((await fetch(body.uploadUrl, put)).status).toBe(200);
    const registered = await this.#media.call('POST', '/v1/assets', { assetId: body.assetId, ...what });
    expect([registered.status, registered.body]).toEqual([201, expect.anything()]);
    return body.assetId;
  }

  /** The bytes of an asset, at the URL that the media service signs. */
  async read(kind: 'image' | 'video', assetId: unknown) {
    const { body } = await this.#media.call<Record<string, { url: string }>>('POST', `/v1/sign/${kind}`, {
      refs: [assetId],
    });
    const url = body[String(assetId)]?.url ?? '';
    const answer = await fetch(url);
    return { url, status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  }
}

/** Fails with the log of the program if a line of it has the level `error`. */
function assertQuiet(program: Program): void {
  expect(
    program
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"')),
  ).toEqual([]);
}

async function stop(program: Program | undefined): Promise<void> {
  program?.child.kill('SIGTERM');
  await program?.ended();
}

async function startMailServer() {
  const mails: { readonly to: readonly string[]; readonly text: string }[] = [];
  const server = new SMTPServer({
    authMethods: ['PLAIN'],
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'mailer' && password === 'mail-password'
        ? done(null, { user: username })
        : done(Object.assign(new Error('no'), { responseCode: 535 })),
    onData(stream, { envelope }, done) {
      stream.toArray().then((chunks) => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
        done();
      }, done);
    },
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://mailer:mail-password@127.0.0.1:${port}`,
    mails,
    close: () => new Promise<void>((closed) => server.close(closed)),
  };
}

describe.skipIf(skipWithoutS3)('with OpenAI, an identity provider, an MCP server, SMTP and S3', () => {
  let place: Place;
  let program: Program;
  let env: Readonly<Record<string, string>>;
  let openAi: Awaited<ReturnType<typeof startOpenAi>>;
  let identity: Awaited<ReturnType<typeof startIdentityProvider>>;
  let mail: Awaited<ReturnType<typeof startMailServer>>;
  let tools: ForeignServer;
  let buckets: readonly Awaited<ReturnType<typeof openTestBucket>>[];
  let browser: Awaited<ReturnType<typeof identity.signIn>>['browser'];
  let user: User;
  let accessToken: string;
  const auth = () => `http://localhost:${place.portBase + 3}`;

  beforeAll(async () => {
    place = await newPlace();
    [openAi, identity, mail, buckets, tools] = await Promise.all([
      startOpenAi(),
      startIdentityProvider(`${auth()}/callback`),
      startMailServer(),
      Promise.all([openTestBucket(), openTestBucket({ isPublic: true })]),
      startForeignServer((server) =>
        server.registerTool('forecast', { inputSchema: { place: z.string() } }, ({ place: where }) => ({
          content: [{ type: 'text', text: `Rain in ${where}.` }],
        })),
      ),
    ]);
    const [originals, variants] = buckets;
    env = {
      ...place.env,
      ...identity.env,
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
      AGENT_EXTRACT_MEMORIES: 'false',
      AGENT_MCP_SERVERS: JSON.stringify({ weather: { url: tools.url, headers: { 'x-key': 'the key of the tools' } } }),
      AGENT_MCP_ALLOW_PRIVATE: 'true',
      SMTP_URL: mail.url,
      NOTIFY_FROM: 'Atelier <hello@example.com>',
      S3_ENDPOINT: testServer.endpoint,
      S3_REGION: testServer.region,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
      S3_BUCKET: originals?.bucket ?? '',
      S3_PUBLIC_BUCKET: variants?.bucket ?? '',
    };
    program = run('start', services, env);
    await program.waitFor('Atelier is ready', 240_000);
    const signedIn = await identity.signIn(auth(), `${appOrigin}/start`, email);
    expect(signedIn.location).toBe(`${appOrigin}/start`);
    browser = signedIn.browser;
    const refreshed = await browser.post(`${auth()}/refresh`, { origin: appOrigin });
    expect([refreshed.status, refreshed.text]).toEqual([200, expect.stringContaining('access_token')]);
    accessToken = String(JSON.parse(refreshed.text).access_token);
    user = new User(place, accessToken);
    // The first request of a user makes their profile.
    await user.credits();
    const granted = await runInProcess(credits, [user.agent.userId, 'pro', '1000'], env);
    expect(granted).toEqual({ code: 0, output: expect.stringContaining('1000 credits') });
  }, 300_000);
  afterAll(async () => {
    await stop(program);
    await Promise.all([identity, mail, tools].map((party) => party?.close()));
    openAi?.close();
    for (const { bucket } of buckets ?? []) await dropBucket(bucket);
    await place.remove();
  });

  it('sign-in ends in a session, which a sign-out ends', async () => {
    const other = await identity.signIn(auth(), `${appOrigin}/there`, 'grace@example.com');
    expect([other.location, other.browser.cookies.has('ka_session')]).toEqual([`${appOrigin}/there`, true]);
    const signedOut = await other.browser.post(`${auth()}/logout`, { origin: appOrigin });
    expect([signedOut.status, other.browser.cookies.has('ka_session')]).toEqual([200, false]);
    expect((await browser.post(`${auth()}/refresh`, { origin: appOrigin })).status).toBe(200);
  });

  it('a page of an origin that is not allowed is refused, and named once in the log', async () => {
    const headers = { origin: 'http://localhost:5173' };
    for (let tries = 0; tries < 3; tries++)
      expect((await fetch(`${auth()}/refresh`, { method: 'POST', headers })).status).toBe(403);
    const preflight = { ...headers, 'access-control-request-method': 'POST' };
    await fetch(`http://localhost:${place.portBase + 4}/task`, { method: 'OPTIONS', headers: preflight });
    await fetch(`${auth()}/login?next=http://localhost:5174/x`, { redirect: 'manual' });
    const warnings = () =>
      program
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":"warn"') && line.includes('localhost:517'));
    await expect
      .poll(warnings)
      .toEqual([
        expect.stringMatching(/localhost:5173.*ALLOWED_REDIRECT_ORIGINS/),
        expect.stringMatching(/localhost:5173.*AGENT_ALLOWED_ORIGINS/),
        expect.stringMatching(/localhost:5174.*ALLOWED_REDIRECT_ORIGINS/),
      ]);
  });

  it('a chat streams the answer of the model, and costs the price of a run', async () => {
    const turn = await user.send('Hello there');
    expect(turn).toMatchObject({ status: 'completed', text: 'You wrote: Hello there', cost: prices.run });
  });

  it('a flagged prompt is refused, reaches no provider and no log, and is free', async () => {
    const before = await user.credits();
    const [prompt, orders] = ['a picture of violence', openAi.images.length];
    const { status, body } = await user.agent.call('POST', '/images', { prompt });
    expect([status, body]).toEqual([
      422,
      expect.objectContaining({ error: 'prompt_refused', categories: ['violence'] }),
    ]);
    expect([openAi.images.length, await user.credits()]).toEqual([orders, before]);
    expect(program.output()).not.toContain(prompt);
  });

  it('an image is readable as an asset with its bytes, is an object in the bucket, and is charged', async () => {
    const { output, cost, text } = await user.use('generateImage', { prompt: 'a boat', ratio: '16:9' });
    expect(output).toMatchObject({ kind: 'image', status: 'completed', mime: 'image/png' });
    expect(text).toContain(String(output.assetId));
    const { url, bytes } = await user.read('image', output.assetId);
    expect(bytes.equals(withMark(openAi.painted, 'ai'))).toBe(true);
    expect(new URL(url).origin).toBe(new URL(testServer.endpoint).origin);
    expect(url).toContain(buckets[0]?.bucket);
    expect(openAi.images.at(-1)).toMatchObject({ prompt: 'a boat', size: '1536x1024' });
    expect(cost).toBe(prices.run + prices.image);
  });

  it('an edit sends the source, and its result is another asset', async () => {
    const source = await makeImage('png', { seed: 7, width: 120, height: 80 });
    const assetId = await user.upload(source);
    const attached = { type: 'file', mediaType: 'image/png', url: `asset:${assetId}` };
    const { output, cost } = await user.use('editImage', { prompt: 'in blue', assetId }, [attached]);
    const edit = openAi.edits.at(-1);
    expect([edit?.prompt, edit?.image.equals(source), edit?.mask]).toEqual(['in blue', true, undefined]);
    expect(output.assetId).not.toBe(assetId);
    expect((await user.read('image', output.assetId)).bytes.equals(withMark(openAi.painted, 'edited'))).toBe(true);
    expect(cost).toBe(prices.run + prices.image);
  });

  it('an edit of a part, ordered over MCP, sends the source and the mask', async () => {
    const source = await makeImage('png', { seed: 8, width: 120, height: 80 });
    const assetId = await user.upload(source);
    const mask = await sharp({ create: { width: 120, height: 80, channels: 4, background: '#0000' } })
      .png()
      .toBuffer();
    const client = new Client({ name: 'desktop', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`http://localhost:${place.portBase + 4}/mcp`), {
      requestInit: { headers: { ...user.agent.credential } },
    });
    // The SDK's own types differ under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const args = { prompt: 'a red roof', assetId, mask: mask.toString('base64') };
    const { structuredContent } = await client.callTool({ name: 'edit_image', arguments: args });
    await client.close();
    const edit = openAi.edits.at(-1);
    expect([edit?.prompt, edit?.image.equals(source), edit?.mask?.equals(mask)]).toEqual(['a red roof', true, true]);
    const made = await user.read('image', Reflect.get(Object(structuredContent), 'assetId'));
    expect(made.bytes.equals(withMark(openAi.painted, 'edited'))).toBe(true);
  });

  it('a video is polled, readable and charged', async () => {
    const { output, cost } = await user.use('generateVideo', { prompt: 'waves', ratio: '9:16' });
    expect(output).toMatchObject({ kind: 'video', status: 'completed' });
    expect(
      (await user.read('video', output.assetId)).bytes.equals(Buffer.concat([openAi.filmed, movieMark('ai')])),
    ).toBe(true);
    expect(openAi.videos).toEqual([expect.objectContaining({ prompt: 'waves', size: '720x1280' })]);
    expect(cost).toBe(prices.run + prices.video);
  });

  it('a tool of an MCP server answers in the stream', async () => {
    const { text } = await user.use('weather_forecast', { place: 'Lisbon' });
    expect(text).toContain('Rain in Lisbon.');
    expect(tools.requests.every(({ headers }) => headers['x-key'] === 'the key of the tools')).toBe(true);
  });

  it('a mail arrives at the SMTP server', async () => {
    const secrets = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
    const notify = chatter(`http://localhost:${place.portBase + 7}`, '', { 'x-internal-key': secrets.INTERNAL_KEY });
    const mailed = { from: 'Atelier <hello@example.com>', to: email, subject: 'Your picture', text: 'It is ready.' };
    expect((await notify.call('POST', '/emails', mailed)).status).toBe(200);
    await expect.poll(() => mail.mails).toHaveLength(1);
    expect(mail.mails[0]).toMatchObject({
      to: [email],
      text: expect.stringMatching(/Your picture[\s\S]*It is ready\./),
    });
  });

  it('doctor finds nothing wrong with any of them, orders nothing, and logs no error', async () => {
    const [images, videos, mails] = [openAi.images.length, openAi.videos.length, mail.mails.length];
    const doctor = run('doctor', [], env);
    const [code, output] = [await doctor.ended(), doctor.output()];
    expect([code, output]).toEqual([0, expect.not.stringMatching(/^FAULT/m)]);
    for (const name of ['objects', 'identity', 'mail', 'model', 'image model', 'video model', 'mcp servers'])
      expect(output).toMatch(new RegExp(`^(?:ok|warn) +${name} `, 'm'));
    expect([openAi.images.length, openAi.videos.length, mail.mails.length]).toEqual([images, videos, mails]);
    assertQuiet(program);
  });
});

describe('with packages of the AI SDK, and a real small model', () => {
  const [real] = realServers;
  let place: Place;
  let program: Program;
  let user: User;
  let painted: Buffer;
  let filmed: Buffer;
  let served: ServedModel | undefined;
  let fal: Awaited<ReturnType<typeof startFal>>;
  let replicate: Awaited<ReturnType<typeof startReplicate>>;
  let google: Awaited<ReturnType<typeof startGoogle>>;

  beforeAll(async () => {
    painted = await makeImage('png', { seed: 21, width: 90, height: 60 });
    filmed = await readFile(new URL('../../src/local/renderer/sample.mp4', import.meta.url));
    [place, fal, replicate, google, served] = await Promise.all([
      newLanePlace(),
      startFal(painted),
      startReplicate(filmed),
      startGoogle(),
      real?.isMissing === false ? real.start() : undefined,
    ]);
    const gemini = { id: 'gemini', provider: 'google', model: packageModels.chat, apiKeyEnv: 'GEMINI_KEY' };
    const limits = { vision: false, tools: false, maxOutputTokens: 12, temperature: 0, contextTokens: 1000 };
    const small = served && { id: 'small', baseUrl: served.baseUrl, model: served.modelName, ...limits };
    const modelsFile = join(place.dataDir, 'models.json');
    await writeFile(
      modelsFile,
      JSON.stringify([{ ...gemini, baseUrl: `${google.url}/v1beta` }, ...(small ? [small] : [])]),
    );
    const env = {
      ...place.env,
      MODELS_FILE: modelsFile,
      GEMINI_KEY: google.key,
      IMAGE_MODEL_PROVIDER: 'fal',
      IMAGE_MODEL_BASE_URL: fal.url,
      IMAGE_MODEL_API_KEY: fal.key,
      IMAGE_MODEL_NAME: packageModels.image,
      IMAGE_MODEL_EDIT_NAME: packageModels.edit,
      VIDEO_MODEL_PROVIDER: 'replicate',
      VIDEO_MODEL_BASE_URL: `${replicate.url}/v1`,
      VIDEO_MODEL_API_KEY: replicate.key,
      VIDEO_MODEL_NAME: packageModels.video,
      AGENT_EXTRACT_MEMORIES: 'false',
    };
    program = run('start', [...services, 'idp'], env);
    await program.waitFor('Atelier is ready', 240_000);
    const { output } = await runInProcess(token, [email], env);
    user = new User(place, output.trim());
  }, 300_000);
  afterAll(async () => {
    await stop(program);
    for (const party of [fal, replicate, google]) party?.close();
    await served?.close();
    await place.remove();
  });

  /** Images and videos can be ordered without a chat model that calls tools. */
  const order = async (name: string, args: object) => {
    const client = new Client({ name: 'desktop', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`http://localhost:${place.portBase + 4}/mcp`), {
      requestInit: { headers: { ...user.agent.credential } },
    });
    // The SDK's own types differ under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const before = await user.credits();
    const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
    await client.close();
    return { made: structuredContent as Readonly<Record<string, unknown>>, cost: before - (await user.credits()) };
  };

  it('the local identity provider lets pages of this machine in, at any port', async () => {
    const at = (offset: number, path: string) => `http://localhost:${place.portBase + offset}${path}`;
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8080', 'http://localhost:3000']) {
      const refreshed = await fetch(at(3, '/refresh'), { method: 'POST', headers: { origin } });
      expect([refreshed.status, refreshed.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
      for (const offset of [1, 4, 5]) {
        const headers = { origin, 'access-control-request-method': 'POST' };
        const preflight = await fetch(at(offset, '/'), { method: 'OPTIONS', headers });
        expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
      }
      const signedIn = await signIn(openBrowser(), at(3, ''), { query: { next: `${origin}/home` } });
      expect(signedIn.location).toBe(`${origin}/home`);
    }
    for (const origin of ['https://localhost:5173', 'http://localhost.example.com', 'http://192.168.1.7:5173'])
      expect((await fetch(at(3, '/refresh'), { method: 'POST', headers: { origin } })).status).toBe(403);
  });

  it('the package of Google answers a chat', async () => {
    const turn = await user.send('Hello', { model: 'gemini' });
    expect(turn).toMatchObject({ status: 'completed', text: 'Hello from Gemini.', cost: prices.run });
  });

  it.skipIf(real?.isMissing)('a real small model answers a chat', { timeout: 240_000 }, async () => {
    const turn = await user.send('What is the capital of France?', { model: 'small' });
    expect([turn.status, turn.error]).toEqual(['completed', null]);
    expect(turn.text).toContain('Paris');
  });

  it.runIf(isNightly)('the package of fal paints and edits', async () => {
    const { made, cost } = await order('generate_image', { prompt: 'a boat' });
    expect((await user.read('image', made.assetId)).bytes.equals(withMark(painted, 'ai'))).toBe(true);
    expect([fal.orders.at(-1), cost]).toEqual([{ prompt: 'a boat' }, prices.image]);
    const edited = await order('edit_image', { prompt: 'in blue', assetId: made.assetId });
    expect((await user.read('image', edited.made.assetId)).bytes.equals(withMark(painted, 'ai'))).toBe(true);
    const source = `data:image/png;base64,${Buffer.from(withMark(painted, 'ai')).toString('base64')}`;
    expect(fal.orders.at(-1)).toEqual({ prompt: 'in blue', image_urls: [source] });
  });

  it.runIf(isNightly && !skipWithout('ffmpeg'))('the package of Replicate films', async () => {
    const { made, cost } = await order('generate_video', { prompt: 'waves', ratio: '9:16' });
    expect(made).toMatchObject({ status: 'completed' });
    expect((await user.read('video', made.assetId)).bytes.equals(Buffer.concat([filmed, movieMark('ai')]))).toBe(true);
    expect(replicate.orders).toEqual([expect.objectContaining({ prompt: 'waves', aspect_ratio: '9:16' })]);
    expect(cost).toBe(prices.video);
    assertQuiet(program);
  });
});
