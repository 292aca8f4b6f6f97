/** Generations (docs/specification/agent.md#generations), with the program that `npm start` starts. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Generation, GenerationPage } from '#agent/generation/api.ts';
import type { GalleryPage } from '#media/shares/api.ts';
import { newLanePlace, type Place } from '../acceptance/running.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { balance, order, type Person, type Running, start, upload, wait } from './program.fixture.ts';

describe('generations', () => {
  let running: Running;
  let ada: Person;
  let ben: Person;
  beforeAll(async () => {
    running = await start(await newLanePlace(), { STARTING_CREDITS: '7' });
    ada = await running.person('ada@example.com', 'pro', 1000);
    ben = await running.person('ben@example.com', 'free', 5);
  });
  afterAll(async () => {
    await running.stop();
    await running.place.remove();
  });

  it('gives new users STARTING_CREDITS', async () => {
    const { status, body } = await order(running.server, '/images', { prompt: 'x', n: 4, userId: randomUUID() });
    expect([status, body]).toMatchObject([402, { required: 8, balance: 7 }]);
  });

  it('makes four images, each charged when it is delivered', async () => {
    const before = await balance(ada);
    const { status, body } = await order(ada, '/images', { prompt: 'a lighthouse', n: 4, ratio: '16:9', seed: 7 });
    expect([status, body.status, body.credits, await balance(ada)]).toEqual([201, 'completed', 8, before - 8]);
    expect(body).toMatchObject({ kind: 'image', origin: 'api', prompt: 'a lighthouse' });
    expect(body.items).toHaveLength(4);
    for (const { status: ofItem, url, width, height } of body.items) {
      expect([ofItem, width, height]).toEqual(['completed', 1280, 720]);
      expect((await fetch(String(url))).status).toBe(200);
    }
    const query = `scopeKind=generation&scopeId=${body.id}`;
    const library = await ada.media.call<{ assets: { assetId: string }[] }>('GET', `/v1/assets?${query}`);
    expect(library.body.assets.map(({ assetId }) => assetId).sort()).toEqual(
      body.items.map(({ assetId }) => assetId).sort(),
    );
    expect((await ada.agent.call('GET', `/generations/${body.id}`)).body).toMatchObject({ id: body.id, credits: 8 });
  });

  it('edits references, and films a first frame', async () => {
    const reference = `asset:${await upload(ada)}`;
    const edited = await order(ada, '/images', { prompt: 'in blue', references: [reference] });
    expect([edited.status, edited.body.status]).toEqual([201, 'completed']);
    const child = String(edited.body.items[0]?.assetId);
    const filmed = { prompt: 'waves', firstFrame: `asset:${child}`, references: [], duration: 8 };
    const { status, body } = await order(ada, '/videos', filmed);
    expect([status, body.status, body.kind, body.credits]).toEqual([201, 'completed', 'video', 40]);
    // A list shows what each was made from.
    expect([`asset:${edited.body.references}`, edited.body.duration]).toEqual([reference, undefined]);
    expect([body.references, body.duration]).toEqual([[child], 8]);
    expect((await fetch(String(body.items[0]?.url))).status).toBe(200);
  });

  it('lists generations newest first, with the videos of runs', async () => {
    const taskId = await ada.agent.ask(randomUUID(), 'Make a video of waves');
    await ada.agent.ended(taskId);
    const first = (await ada.agent.call<GenerationPage>('GET', '/generations?limit=1')).body;
    expect(first.generations).toMatchObject([{ kind: 'video', origin: 'run', taskId }]);
    const rest = (await ada.agent.call<GenerationPage>('GET', `/generations?cursor=${first.next_cursor}`)).body;
    expect(rest.generations.map(({ kind }) => kind)).toEqual(['video', 'image', 'image']);
    const images = (await ada.agent.call<GenerationPage>('GET', '/generations?kind=image&status=completed')).body;
    expect(images.generations).toHaveLength(2);
    expect((await ben.agent.call<GenerationPage>('GET', '/generations')).body.generations).toEqual([]);
    expect((await ben.agent.call('GET', `/generations/${first.generations[0]?.id}`)).status).toBe(403);
    expect((await ben.agent.call('DELETE', `/generations/${first.generations[0]?.id}`)).status).toBe(403);
    expect((await ada.agent.call('GET', `/generations/${randomUUID()}`)).status).toBe(404);
  });

  it('orders once for each Idempotency-Key, and keeps no refusal', async () => {
    const headers = { ...wait, 'idempotency-key': randomUUID() };
    const body = { prompt: 'a key' };
    expect((await order(ben, '/images', { ...body, n: 4 }, headers)).status).toBe(402);
    const made = await Promise.all([1, 2, 3].map(() => order(ben, '/images', body, headers)));
    expect(new Set(made.map((answer) => answer.body.id)).size).toBe(1);
    expect(await balance(ben)).toBe(3);
    const other = await order(ben, '/images', { prompt: 'another' }, headers);
    expect([other.status, other.body.error]).toEqual([409, 'idempotency_conflict']);
  });

  it.each([
    ['an unknown model', '/images', { model: 'none' }, 400, 'model'],
    ['a video model for an image', '/images', { model: 'a-video' }, 400, 'model'],
    ['a ratio that no model has', '/images', { ratio: '2:1' }, 400, 'ratio'],
    ['too many images', '/images', { n: 5 }, 400, 'n'],
    ['too many references', '/images', { references: Array(5).fill(`asset:${randomUUID()}`) }, 400, 'references'],
    ['a mask without a reference', '/images', { mask: `asset:${randomUUID()}` }, 400, 'mask'],
    ['a reference that does not exist', '/images', { references: [`asset:${randomUUID()}`] }, 400, 'references'],
    ['an empty prompt', '/images', { prompt: '' }, 400, 'prompt'],
    ['references that the video model lacks', '/videos', { references: [`asset:${randomUUID()}`] }, 400, 'references'],
  ] as const)('refuses %s, and names the field', async (_what, path, body, status, field) => {
    const answer = await order(ada, path, { prompt: 'x', ...body });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(`body.${field}`)]);
  });

  it('refuses the assets of others, plans without videos, and orders that credits do not cover', async () => {
    const foreign = await order(ben, '/images', { prompt: 'x', references: [`asset:${await upload(ada)}`] });
    expect(foreign.status).toBe(403);
    const video = await order(ben, '/videos', { prompt: 'x' });
    expect([video.status, video.body.error]).toEqual([402, 'insufficient_plan']);
    const images = await order(ben, '/images', { prompt: 'x', n: 4 });
    expect([images.status, images.body]).toMatchObject([
      402,
      { error: 'insufficient_credits', required: 8, balance: 3 },
    ]);
  });

  it('remembers how each asset was made, from the last one to the first and back', async () => {
    type Row = { assetId: string; generation: { id: string; seed?: number; references: string[] } | null };
    const read = async (person: Person, id: string) => (await person.media.call<Row>('GET', `/v1/assets/${id}`)).body;
    const made = async (path: '/images' | '/videos', body: object) => {
      const { body: ended } = await order(ada, path, body);
      return [ended.id, String(ended.items.at(-1)?.assetId)] as const;
    };
    const first = await upload(ada);
    const [childOrder, child] = await made('/images', {
      prompt: 'in blue',
      n: 2,
      seed: 4,
      references: [`asset:${first}`],
    });
    const [, grandchild] = await made('/videos', { prompt: 'waves', firstFrame: `asset:${child}` });
    const { generation } = await read(ada, child);
    const lineage = { id: childOrder, prompt: 'in blue', model: 'offline', seed: 5, references: [first] };
    expect(generation).toEqual(lineage);
    expect((await read(ada, grandchild)).generation).toMatchObject({ ratio: '16:9', references: [child] });
    expect((await read(ada, first)).generation).toBeNull();

    const derived = async (id: string) =>
      (await ada.media.call<{ assets: Row[] }>('GET', `/v1/assets?derivedFrom=${id}`)).body.assets;
    expect((await derived(first)).map(({ generation: of }) => of?.seed).sort()).toEqual([4, 5]);
    expect((await derived(child)).map(({ assetId }) => assetId)).toEqual([grandchild]);
    expect(await derived(grandchild)).toEqual([]);

    // Remixed again, as an image: a page can walk up and down.
    const [, remixed] = await made('/images', { prompt: 'in red', references: [`asset:${child}`] });
    const up = [remixed];
    for (let next = await read(ada, remixed); next.generation !== null; next = await read(ada, String(up.at(-1))))
      up.push(String(next.generation.references[0]));
    expect(up).toEqual([remixed, child, first]);
    const down = [first];
    for (const next of up.toReversed().slice(1)) {
      const found = await derived(String(down.at(-1)));
      down.push(...found.filter(({ assetId }) => assetId === next).map(({ assetId }) => assetId));
    }
    expect(down).toEqual(up.toReversed());

    // A published copy shows others the picture, and not how it was made. A server's copy for another user has no lineage.
    const copy = { fromAssetId: child, toScopeKind: 'feed', toScopeId: 'f' };
    const { body: kept } = await ada.media.call<Row>('POST', '/v1/copy', copy);
    expect([kept.generation, (await read(ada, kept.assetId)).generation]).toEqual([lineage, lineage]);
    expect((await read(ben, kept.assetId)).generation).toBeNull();

    // What others make from it is counted, and what its owner makes is not.
    const other = (await ada.media.call<Row>('POST', '/v1/copy', { ...copy, fromAssetId: first })).body.assetId;
    for (const [who, of] of [
      [ben, kept.assetId],
      [ada, other],
    ] as const)
      expect((await order(who, '/images', { prompt: 'in red', references: [`asset:${of}`] })).status).toBe(201);
    const gallery = async (query: string) =>
      (await running.server.media.call<GalleryPage>('GET', `/v1/gallery?${query}`)).body;
    const counts = ({ items }: GalleryPage) => items.map(({ assetId, remixes }) => [assetId, remixes]);
    expect(counts(await gallery('sort=remixed'))).toEqual([
      [kept.assetId, 1],
      [other, 0],
    ]);
    expect((await gallery('sort=remixed&limit=1')).next_cursor).toBeNull();
    expect(counts(await gallery(''))).toEqual([
      [other, 0],
      [kept.assetId, 1],
    ]);
    const { width, height } = (await gallery('')).items[0] ?? {};
    const shape = Number(width) > Number(height) ? 'wide' : Number(width) < Number(height) ? 'tall' : 'square';
    const shaped = await Promise.all(['wide', 'tall', 'square'].map((one) => gallery(`shape=${one}`)));
    expect(shaped.flatMap(({ items }) => items)).toHaveLength(2);
    expect(counts(await gallery(`shape=${shape}`)).map(([id]) => id)).toContain(other);

    const toOwnerId = ben.agent.userId;
    const { body: given } = await running.server.media.call<Row>('POST', '/v1/copy', { ...copy, toOwnerId });
    expect((await read(ben, given.assetId)).generation).toBeNull();

    const forged = { assetId: randomUUID(), scopeKind: 'l', scopeId: 'l', kind: 'image', mime: 'image/png' };
    const answer = await ada.media.call('POST', '/v1/assets', { ...forged, generation: lineage });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining('body.generation')]);
  });

  it('names the models by kind', async () => {
    const kinds = async (query: string) =>
      (await ada.agent.call<{ models: { kind: string }[] }>('GET', `/models${query}`)).body.models.map(
        ({ kind }) => kind,
      );
    expect(await kinds('')).toEqual(['chat', 'image', 'video']);
    expect(await kinds('?kind=image')).toEqual(['image']);
  });
});

describe('a provider that does not answer', () => {
  let provider: Server;
  let place: Place;
  let running: Running;
  let requests = 0;
  const env = () => {
    const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    return { IMAGE_MODEL_BASE_URL: base, IMAGE_MODEL_NAME: 'slow', IMAGE_MODEL_API_KEY: 'k' };
  };
  beforeAll(async () => {
    provider = createServer((_request, response) => {
      requests += 1;
      response.on('close', () => undefined);
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    place = await newLanePlace();
    running = await start(place, env());
  });
  afterAll(async () => {
    await running.stop();
    provider.closeAllConnections();
    provider.close();
    await place.remove();
  });

  it('is canceled: the credits return, and nothing is delivered', async () => {
    const user = await running.person('cancel@example.com', 'pro', 100);
    const { status, body } = await order(user, '/images', { prompt: 'x', n: 2 }, {});
    expect([status, body.status, body.credits, await balance(user)]).toEqual([202, 'running', 4, 96]);
    await expect.poll(() => requests).toBeGreaterThan(0);
    for (const _time of [1, 2]) expect((await user.agent.call('DELETE', `/generations/${body.id}`)).status).toBe(204);
    const ended = (await user.agent.call<Generation>('GET', `/generations/${body.id}`)).body;
    expect([ended.status, ended.credits, await balance(user)]).toEqual(['canceled', 0, 100]);
    expect(ended.items.map(({ status: ofItem }) => ofItem)).toEqual(['canceled', 'canceled']);
  });

  it.runIf(isNightly)('fails and is free within 30 s if the process dies, and is not ordered again', async () => {
    const user = await running.person('killed@example.com', 'pro', 100);
    const before = requests;
    const { body } = await order(user, '/images', { prompt: 'x' }, {});
    await expect.poll(() => requests).toBeGreaterThan(before);
    const ordered = requests;
    running.program.child.kill('SIGKILL');
    await running.program.ended();
    running = await start(place, env());
    const again = running.again(user);
    const read = async () => (await again.agent.call<Generation>('GET', `/generations/${body.id}`)).body.status;
    await expect.poll(read, { timeout: 30_000 }).toBe('failed');
    expect([requests, await balance(again)]).toEqual([ordered, 100]);
  });
});
