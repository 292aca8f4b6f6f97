/** Calls of services on behalf of a user, against real services: they have that user's rights and no others. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { type Provider, startProvider } from '../agent/provider.fixture.ts';
import { type AgentRig, type Chatter, modelsOf, newThread, startAgent, testSettings } from '../agent/rig.fixture.ts';
import { databaseEngines } from '../database.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { embedded, put, upload } from '../media/rig.fixture.ts';
import { type ModelServer, startModelServer } from '../memory/modelserver.fixture.ts';
import { languageModelAt, type MemoryRig, startMemory } from '../memory/rig.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { type CallRow, calls } from './table.fixture.ts';
import { type SeenCall, type Witness, witness } from './witness.fixture.ts';

const ofAgent = calls.filter(({ file }) => file.startsWith('agent/'));
const forUsers = calls.filter(({ rights }) => rights === 'user');
const internalKey = 'an internal key';

let rig: AgentRig;
let memory: MemoryRig;
const seams: Record<string, Witness> = {};
const clients: HttpClient[] = [];
let alice: Chatter;
let mallory: Chatter;
let png: Buffer;
let agentUrl: string;
let seeingUrl: string;
let provider: Provider;
let memoryModel: ModelServer;

beforeAll(async () => {
  const [pglite] = databaseEngines;
  if (pglite === undefined) throw new Error('there is no database engine');
  png = await makeImage('png');
  memoryModel = await startModelServer();
  memory = await startMemory(pglite, { languageModel: await languageModelAt(memoryModel.url) });
  seams.memory = await witness(memory.url);
  const behind = (name: string) => {
    const client = createClient({
      name,
      baseUrl: seams[name]?.url ?? '',
      isInternal: true,
      internalKey,
      timeoutMs: 30_000,
    });
    clients.push(client);
    return client;
  };
  const make = async () => ({ bytes: png, mime: 'image/png' });
  // The URLs of the media service and of its recorder are known only after the rig has started.
  // Any of the instances may make a video, so all of them call the recorder.
  const first = await startAgent(embedded, {
    media: { send: (call) => recorded.send(call) },
    // Like the clips of most providers: without facts and poster, except of waves.
    videoGenerator: {
      ...offlineVideos,
      download: async (order) => {
        const clip = await offlineVideos.download(order);
        return /waves/.test(order.prompt) ? clip : { bytes: clip.bytes, mime: clip.mime };
      },
    },
  });
  rig = first;
  seams.media = await witness(first.media.url);
  const recorded = behind('media');
  const opened = await first.another({
    memory: behind('memory'),
    imageGenerator: { generate: make, edit: make },
    pace: { leaseMs: 60_000 },
  });
  // The offline model sees no images; this one gets them.
  provider = await startProvider();
  const seeing = await first.another({
    memory: behind('memory'),
    model: modelsOf({ url: provider.url, names: ['seeing'] }),
    settings: { ...testSettings, extractMemories: true },
    pace: { leaseMs: 60_000 },
  });
  seeingUrl = seeing.url;
  agentUrl = opened.url;
  alice = first.at(opened.url, await first.user('pro', 1000));
  mallory = first.at(opened.url, await first.user('pro', 1000));
});
afterAll(async () => {
  await rig.close();
  await Promise.all(clients.map((client) => client.close()));
  for (const seam of Object.values(seams)) seam.close();
  await memory.close();
  provider.close();
  memoryModel.close();
});

const newAsset = async (chatter: Chatter) => {
  const client = rig.media.client(chatter.credential);
  const { registration, assetId } = await upload(client, png);
  expect((await client.register(registration)).status).toBe(201);
  return assetId;
};
const file = (assetId: string) => ({ type: 'file', mediaType: 'image/png', url: `asset:${assetId}` });

describe('a conversation with images, videos and memory', () => {
  it('makes the calls of the table, each for the user of the run, and no others', async () => {
    const threadId = newThread();
    const say = async (message: object, speaker = alice) => {
      const { status, body } = await speaker.call('POST', '/task', { threadId, message: { role: 'user', ...message } });
      expect(status).toBe(201);
      expect((await alice.ended(String(body.taskId))).status).toBe('completed');
    };
    await say({ parts: [{ type: 'text', text: 'Edit this, please.' }, file(await newAsset(alice))] });
    await say({ parts: [{ type: 'text', text: 'Remember that I like bees and make an image and a video.' }] });
    await say({ parts: [{ type: 'text', text: 'Make a video of waves.' }] });
    await say({ parts: [{ type: 'text', text: 'What do you know about me?' }] });
    await say({ parts: [{ type: 'text', text: 'Forget that I like bees.' }] });
    const sight = [{ type: 'text', text: 'What do you see?' }, file(await newAsset(alice))];
    await say({ parts: sight }, rig.at(seeingUrl, alice));
    await expect.poll(() => seams.memory?.seen.some(({ path }) => path === '/memory/extract')).toBe(true);
    // The poster of the video arrives after the run.
    await expect
      .poll(() => seams.media?.seen.some((call) => nameOf({ service: 'media', ...call }).includes('PATCH')))
      .toBe(true);
    await alice.messages(threadId);
    const listing = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_assets' } };
    const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const headers = { ...accept, ...alice.credential };
    const listed = await fetch(`${agentUrl}/mcp`, { method: 'POST', headers, body: JSON.stringify(listing) });
    expect(await listed.text()).toContain('nextCursor');
    expect((await alice.call('DELETE', `/threads/${threadId}?assets=true`)).status).toBe(204);
    const parts = [file(await newAsset(mallory))];
    const stolen = await alice.call('POST', '/task', { threadId, message: { role: 'user', parts } });
    expect(stolen.status).toBe(403);

    const seen = Object.entries(seams).flatMap(([service, { seen }]) => seen.map((call) => ({ service, ...call })));
    expect([...new Set(seen.map(nameOf))].sort()).toEqual(
      ofAgent.map(({ service, endpoint, rights }) => `${service} ${endpoint} ${rights}`).sort(),
    );
    expect(new Set(seen.flatMap(({ onBehalfOf }) => onBehalfOf ?? []))).toEqual(new Set([alice.userId]));
  });

  /** Returns the name as in the table. */
  function nameOf({ service, method, path, hasKey, onBehalfOf, hasToken }: SeenCall & { service: string }): string {
    const row = ofAgent.find(({ endpoint }) => endpointMatches(endpoint, `${method} ${path}`));
    const rights = hasToken || !hasKey ? 'another credential' : onBehalfOf === undefined ? 'server' : 'user';
    return `${service} ${row?.endpoint ?? `${method} ${path}`} ${rights}`;
  }

  const endpointMatches = (endpoint: string, said: string) =>
    new RegExp(`^${endpoint.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(said);
});

/** An attempt to access Alice's data through the endpoints of the table. */
interface Probe {
  /** A program that a successful call needs is not installed. */
  readonly isMissing?: boolean;
  readonly bodyFor: () => Promise<object>;
  /** By default, a rejection is a 403. */
  readonly isRefused?: (body: SignedRefs) => boolean;
  /** A success takes the data away, so each attempt needs its own. */
  readonly isConsumed?: true;
}
type SignedRefs = Readonly<Record<string, { readonly ready?: boolean }>>;

const signing: Probe = {
  bodyFor: async () => {
    const path = `${alice.userId}/${randomUUID()}.png`;
    await rig.media.legacyFiles.put(path, png, { contentType: 'image/png', size: png.length, createOnly: true });
    return { refs: [await newAsset(alice), path] };
  },
  isRefused: (body) => {
    const answers = Object.values(body).map(({ ready }) => ready);
    expect([
      [true, true],
      [false, false],
    ]).toContainEqual(answers);
    return answers[0] === false;
  },
};
const place = () => ({ scopeKind: 'thread', scopeId: randomUUID(), kind: 'image', mime: 'image/png' });
const entity = () => ({ entity_id: alice.userId, entity_type: 'user' });

const conversation: Probe = {
  bodyFor: async () => {
    const threadId = newThread();
    await alice.ended(await alice.ask(threadId, 'hello'));
    return { threadId };
  },
};

const probes: Readonly<Record<string, Probe>> = {
  'agent GET /threads/:threadId': conversation,
  'agent GET /messages/:threadId': conversation,
  'media POST /v1/uploads': { bodyFor: async () => ({ ...place(), ownerId: alice.userId }) },
  'media POST /v1/assets': {
    bodyFor: async () => {
      const what = place();
      const { body } = await rig.media.client(alice.credential).reserve(what);
      expect(await put(body, png)).toBe(200);
      return { ...what, assetId: body.assetId, ownerId: alice.userId };
    },
  },
  'media POST /v1/media-tasks/video': {
    isMissing: skipWithout('ffmpeg'),
    bodyFor: async () => {
      const { kind, ...what } = { ...place(), kind: 'video', mime: 'video/mp4' };
      const { body } = await rig.media.client(alice.credential).reserve({ ...what, kind });
      expect(await put(body, png)).toBe(200);
      return { ...what, assetId: body.assetId, ownerId: alice.userId };
    },
  },
  'media POST /v1/deposits': {
    bodyFor: async () =>
      Buffer.concat([
        Buffer.from(`${JSON.stringify({ ...place(), assetId: randomUUID(), ownerId: alice.userId })}\n`),
        png,
      ]),
  },
  'media GET /v1/assets': { bodyFor: async () => ({ ownerId: alice.userId }) },
  'media POST /v1/sign/image': signing,
  'media POST /v1/sign/video': signing,
  'media DELETE /v1/scope': {
    bodyFor: async () => {
      await newAsset(alice);
      return { ownerId: alice.userId, scopeKind: 'thread', scopeId: randomUUID() };
    },
  },
  'media POST /v1/fit': {
    bodyFor: async () => ({ ref: await newAsset(alice), width: 20, height: 20 }),
    isRefused: (body: object) => Reflect.get(body, 'error') === 'not_found',
  },
  'media PATCH /v1/assets/:assetId': {
    bodyFor: async () => ({ assetId: await newAsset(alice) }),
    isRefused: (body: object) => Reflect.get(body, 'error') === 'not_found',
  },
  'memory POST /inject': { bodyFor: async () => ({ ...entity(), query: 'bees' }) },
  'memory POST /memory/search': { bodyFor: async () => ({ ...entity(), query: 'bees' }) },
  'memory POST /memory/extract': {
    bodyFor: async () => ({ ...entity(), messages: [{ role: 'user', content: 'I like bees' }] }),
  },
  'memory DELETE /memory/:id': {
    isConsumed: true,
    bodyFor: async () => {
      const body = { ...entity(), content: `I like bees ${randomUUID()}`, type: 'preference' };
      return (await memory.server.send<{ id: string }>('POST', '/memory/add', body)).body;
    },
  },
  'memory POST /memory/add': { bodyFor: async () => ({ ...entity(), content: 'I like bees', type: 'preference' }) },
};

function send({ service, endpoint }: CallRow, body: object, headers: Record<string, string>): Promise<Response> {
  const [method = '', path = ''] = endpoint.split(' ');
  const named = path.replace(/:(\w+)/g, (_, name: string) => String(Reflect.get(body, name)));
  const bases: Readonly<Record<string, string>> = { media: rig.media.url, memory: memory.url, agent: agentUrl };
  const url = bases[service] + named;
  if (method === 'GET') return fetch(`${url}?${new URLSearchParams({ ...body })}`, { headers });
  // Deletions refuse unknown fields.
  if (method === 'DELETE' && path.includes(':')) return fetch(url, { method, headers });
  return fetch(url, {
    method,
    headers: { 'content-type': body instanceof Buffer ? 'application/octet-stream' : 'application/json', ...headers },
    body: body instanceof Buffer ? new Uint8Array(body) : JSON.stringify(body),
  });
}

/** Reports whether the call is rejected. Any other result must be a success. */
async function isRejected(row: CallRow, body: object, headers: Record<string, string>): Promise<boolean> {
  const { isRefused } = probes[`${row.service} ${row.endpoint}`] ?? {};
  const response = await send(row, body, headers);
  const rejected = isRefused?.((await response.json()) as SignedRefs) ?? response.status === 403;
  if (!rejected) expect(response.status).toBeLessThan(300);
  return rejected;
}

const key = { 'x-internal-key': internalKey };
const onBehalfOf = (userId: string) => ({ ...key, 'x-on-behalf-of': userId });

describe.each(forUsers)('$file: $service $endpoint on behalf of a user', (row) => {
  const probe = probes[`${row.service} ${row.endpoint}`];

  it.skipIf(probe?.isMissing)('rejects access to data of another user, and only that', async () => {
    if (probe === undefined) throw new Error('this row of the table needs a probe here');
    const body = await probe.bodyFor();
    const isRejectedWith = async (headers: Record<string, string>) =>
      isRejected(row, probe.isConsumed ? await probe.bodyFor() : body, headers);
    expect(await isRejectedWith(onBehalfOf(mallory.userId))).toBe(true);
    expect(await isRejectedWith(onBehalfOf(alice.userId))).toBe(false);
    expect(await isRejectedWith(onBehalfOf(alice.userId.toUpperCase()))).toBe(false);
    expect(await isRejectedWith(key)).toBe(false);
  });

  it('rejects an invalid user id, and a user id without the key', async () => {
    const body = (await probe?.bodyFor()) ?? {};
    const statusOf = async (headers: Record<string, string>) => (await send(row, body, headers)).status;
    expect(await statusOf(onBehalfOf('alice'))).toBe(400);
    expect(await statusOf(onBehalfOf(''))).toBe(400);
    expect(await statusOf({ 'x-on-behalf-of': alice.userId })).toBe(401);
  });
});

describe('memory on behalf of a user', () => {
  // A memory that is named by its id brings its entity.
  const rows = forUsers.filter(({ service, endpoint }) => service === 'memory' && !endpoint.includes(':id'));

  it.each(rows)('$endpoint accesses no group, as the entity or in a list', async (row) => {
    const body = (await probes[`memory ${row.endpoint}`]?.bodyFor()) ?? {};
    const group = { ...body, entity_id: 'a-group', entity_type: 'group' };
    expect(await isRejected(row, group, onBehalfOf(alice.userId))).toBe(true);
    expect(await isRejected(row, group, key)).toBe(false);
    if (row.endpoint === 'POST /inject')
      expect(await isRejected(row, { ...body, group_id: 'a-group' }, onBehalfOf(alice.userId))).toBe(true);
  });

  it('deletes no memory of a group', async () => {
    const group = { entity_id: 'a-group', entity_type: 'group', content: 'We like rye bread', type: 'preference' };
    const added = await memory.server.send<{ id: string }>('POST', '/memory/add', group);
    const asAlice = memory.client(onBehalfOf(alice.userId));
    expect((await asAlice.send('DELETE', `/memory/${added.body.id}`)).status).toBe(403);
  });

  it('changes no memory of another user, and records the server as the actor', async () => {
    const asAlice = memory.client(onBehalfOf(alice.userId));
    const made = await asAlice.send<{ id: string }>('POST', '/memory/add', {
      ...entity(),
      content: 'I like jazz',
      type: 'preference',
    });
    const path = `/memory/${made.body.id}`;
    const asMallory = memory.client(onBehalfOf(mallory.userId));
    expect((await asMallory.send('PUT', path, { content: 'I like noise' })).status).toBe(403);
    expect((await asMallory.send('DELETE', path)).status).toBe(403);
    expect((await asAlice.send('PUT', path, { content: 'I like swing' })).status).toBe(200);
    const { body } = await memory.operator.send<{ history: { actor: string }[] }>(
      'GET',
      `/admin${path.replace('memory', 'memories')}/history`,
    );
    expect(body.history.map(({ actor }) => actor)).toEqual(['server']);
  });
});

describe('the agent on behalf of a user', () => {
  const as = (chatter: Chatter) => ({ ...rig.server, credential: onBehalfOf(chatter.userId) });
  const call = (chatter: Chatter, method: string, path: string, body?: object) =>
    rig.at(agentUrl, as(chatter)).call(method, path, body);

  it('neither reads nor stops anything of another user', async () => {
    const threadId = newThread();
    const taskId = await alice.ask(threadId, 'hello');
    await alice.ended(taskId);
    for (const path of [`/task/${taskId}`, `/messages/${threadId}`, `/thread/${threadId}/current-task`])
      expect([path, (await call(mallory, 'GET', path)).status, (await call(alice, 'GET', path)).status]).toEqual([
        path,
        403,
        200,
      ]);
    expect((await call(mallory, 'DELETE', `/task/${taskId}`)).status).toBe(403);
    expect((await call(mallory, 'POST', '/task', { threadId, text: 'hi', userId: alice.userId })).status).toBe(403);
  });

  it('ignores a userId in the body', async () => {
    const threadId = newThread();
    const started = await call(mallory, 'POST', '/task', { threadId, text: 'hi', userId: alice.userId });
    expect(started.status).toBe(201);
    expect((await mallory.ended(String(started.body.taskId))).userId).toBe(mallory.userId);
  });
});

describe('every other endpoint of the media service', () => {
  const copied = (ref: string) => ({ fromAssetId: ref, toScopeKind: 'thread', toScopeId: 'other' });

  it.each([
    ['POST', '/v1/fit', 404, (ref: string) => ({ ref, width: 10, height: 10 })],
    ['POST', '/v1/watermark', 404, (ref: string) => ({ ref })],
    ['POST', '/v1/copy', 403, copied],
    ['DELETE', '/v1/assets', 403, (ref: string) => ({ ids: [ref] })],
  ] as const)('%s %s: %s for the asset of another user', async (method, path, refusal, bodyFor) => {
    const body = bodyFor(await newAsset(alice));
    const send = async (userId: string) => {
      const client = rig.media.client(onBehalfOf(userId));
      return (await (method === 'POST' ? client.post(path, body) : client.delete(path, body))).status;
    };
    expect(await send(mallory.userId)).toBe(refusal);
    expect(await send(alice.userId)).toBeLessThan(300);
  });

  it('lists only the assets of the user', async () => {
    const assetId = await newAsset(alice);
    const list = (userId: string, query: string) =>
      rig.media
        .client(onBehalfOf(userId))
        .get<{ assets: { assetId: string; ownerId: string }[] }>(`/v1/assets?${query}`);
    expect((await list(mallory.userId, `ownerId=${alice.userId}`)).status).toBe(403);
    const own = (await list(mallory.userId, '')).body.assets;
    expect(own.filter(({ ownerId }) => ownerId !== mallory.userId)).toEqual([]);
    expect((await list(alice.userId, '')).body.assets.map((row) => row.assetId)).toContain(assetId);
  });

  it('reads no task of another user, and rejects calls that are for servers', async () => {
    const task = { taskId: randomUUID(), ownerId: alice.userId, mediaType: 'video', status: 'pending' };
    expect((await rig.media.server.post('/v1/media-tasks', task)).status).toBe(200);
    const statusOf = async (userId: string) =>
      (await rig.media.client(onBehalfOf(userId)).get(`/v1/media-tasks/${task.taskId}`)).status;
    expect([await statusOf(alice.userId), await statusOf(mallory.userId)]).toEqual([200, 404]);
    const asAlice = rig.media.client(onBehalfOf(alice.userId));
    expect((await asAlice.post('/v1/media-tasks', task)).status).toBe(403);
    expect((await asAlice.delete('/v1/media-tasks', { ownerId: alice.userId })).status).toBe(403);
  });
});
