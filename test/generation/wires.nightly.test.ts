/** A catalogue of models at providers that refuse what the real ones refuse (docs/generation.md), with the program that ships. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Generation, GenerationPage } from '#agent/generation/api.ts';
import { newLanePlace } from '../acceptance/running.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { type Makers, makersKey, startMakers } from './makers.fixture.ts';
import { balance, order, type Person, type Running, start, upload } from './program.fixture.ts';

const paid = ['pro', 'pro_year', 'max', 'max_year'];

let makers: Makers;
let running: Running;
let ada: Person;
beforeAll(async () => {
  makers = await startMakers();
  const place = await newLanePlace();
  const { baseUrls } = makers;
  const apiKeyEnv = 'MAKERS_KEY';
  const file = join(place.dataDir, 'models.json');
  const models = [
    { kind: 'image', id: 'openai', baseUrl: baseUrls.openai, model: 'gpt-image-1', costUsd: 0.04 },
    {
      kind: 'image',
      id: 'fal',
      provider: 'fal',
      model: 'fal-ai/flux',
      editModel: 'fal-ai/flux/edit',
      maxReferences: 9,
    },
    { kind: 'image', id: 'replicate', provider: 'replicate', model: 'maker/painter', plans: paid, credits: 3 },
    { kind: 'image', id: 'gemini', provider: 'google', model: 'gemini-2.5-flash-image', credits: 0 },
    { kind: 'image', id: 'openai-package', provider: 'openai', baseUrl: baseUrls.openai, model: 'gpt-image-1' },
    { kind: 'image', id: 'lost', baseUrl: 'http://127.0.0.1:9/v1', model: 'x', fallback: 'gemini' },
    {
      kind: 'video',
      id: 'film',
      baseUrl: baseUrls.openai,
      model: 'sora-2',
      durations: [4, 8],
      maxReferences: 2,
      ratios: ['16:9', '9:16', '1:1'],
    },
    { kind: 'video', id: 'fal-film', provider: 'fal', model: 'fal-ai/video', credits: 30, maxReferences: 2 },
    { kind: 'video', id: 'replicate-film', provider: 'replicate', model: 'maker/video', credits: 30 },
  ].map((entry) => ({ apiKeyEnv, baseUrl: baseUrls[(entry.provider ?? 'openai') as keyof typeof baseUrls], ...entry }));
  await writeFile(file, JSON.stringify(models));
  running = await start(place, { MODELS_FILE: file, MAKERS_KEY: makersKey, CMS_MEDIA_HOSTS: new URL(makers.url).host });
  ada = await running.person('ada@example.com', 'pro', 1000);
});
afterAll(async () => {
  await running.stop();
  makers.close();
  await running.place.remove();
});

const made = (prompt: string) => makers.orders.filter((one) => one.prompt === prompt);

describe('an image', () => {
  it.each([
    ['openai', { quality: 'high' }, { size: '1536x1024', quality: 'high' }],
    ['openai-package', { quality: 'low' }, { size: '1536x1024', quality: 'low' }],
    ['fal', { seed: 7 }, { image_size: 'landscape_16_9', seed: 7 }],
    ['replicate', { seed: 7 }, { aspect_ratio: '16:9', seed: 7 }],
    ['gemini', { seed: 7 }, { imageConfig: { aspectRatio: '16:9' }, seed: 7 }],
  ] as const)('of %s is ordered with its options', async (model, options, fields) => {
    const prompt = `a boat of ${model}`;
    const { status, body } = await order(ada, '/images', { prompt, model, ratio: '16:9', ...options });
    expect([status, body.status, body.items[0]?.failure]).toEqual([201, 'completed', null]);
    expect(made(prompt)).toMatchObject([{ kind: 'image', images: 0, fields, state: 'delivered' }]);
  });

  it.each([
    ['openai', 3],
    ['openai-package', 3],
    ['fal', 3],
    ['replicate', 1],
    ['gemini', 3],
  ] as const)('of %s gets all references', async (model, count) => {
    const references = [];
    for (let index = 0; index < count; index++) references.push(`asset:${await upload(ada)}`);
    const prompt = `combined by ${model}`;
    const { body } = await order(ada, '/images', { prompt, model, n: 2, references });
    expect(body.items.map(({ status, failure }) => [status, failure])).toEqual([
      ['completed', null],
      ['completed', null],
    ]);
    expect(made(prompt).map(({ images }) => images)).toEqual([count, count]);
  });

  it('gets a mask, and seeds that stay within their range', async () => {
    const reference = `asset:${await upload(ada)}`;
    await order(ada, '/images', { prompt: 'masked', references: [reference], mask: reference });
    expect(made('masked').map(({ images }) => images)).toEqual([2]);
    await order(ada, '/images', { prompt: 'the last seed', model: 'fal', seed: 2 ** 31 - 1, n: 2 });
    expect(
      made('the last seed')
        .map(({ fields }) => fields.seed)
        .sort(),
    ).toEqual([0, 2 ** 31 - 1]);
  });

  it('is made by the fallback if the model cannot be reached, unless that lacks what was asked for', async () => {
    const { body } = await order(ada, '/images', { prompt: 'fallen back', model: 'lost' });
    expect([body.status, body.model, body.credits, made('fallen back')[0]?.wire]).toEqual([
      'completed',
      'lost',
      2,
      'google',
    ]);
    const other = await order(ada, '/images', { prompt: 'not fallen back', model: 'lost', quality: 'high' });
    expect([other.body.status, other.body.credits, made('not fallen back')]).toEqual(['failed', 0, []]);
  });
});

describe('a video', () => {
  it('of every wire starts with its first frame, and takes the seed 0', async () => {
    const firstFrame = `asset:${await upload(ada)}`;
    for (const model of ['film', 'fal-film', 'replicate-film']) {
      const prompt = `waves of ${model}`;
      const seed = model === 'film' ? {} : { seed: 0 };
      const { body } = await order(ada, '/videos', { prompt, model, firstFrame, duration: 8, ...seed });
      expect([body.status, body.items[0]?.failure]).toEqual(['completed', null]);
      expect(made(prompt)).toMatchObject([{ kind: 'video', images: 1, fields: seed }]);
    }
  });

  it.skipIf(skipWithout('ffmpeg'))(
    'of a wire without a ratio has the nearest size, and its row the real one',
    async () => {
      const { body } = await order(ada, '/videos', { prompt: 'square waves', ratio: '1:1', duration: 4 });
      expect(made('square waves')[0]?.fields).toMatchObject({ size: '1280x720', seconds: '4' });
      // The clip is examined after its delivery.
      const read = async () => (await ada.agent.call<Generation>('GET', `/generations/${body.id}`)).body.items;
      await expect.poll(read, { timeout: 20_000 }).toMatchObject([{ status: 'completed', width: 640, height: 360 }]);
    },
  );
});

describe('an order that its model cannot honor', () => {
  const reference = `asset:${randomUUID()}`;
  it.each([
    ['/images', 'quality', { model: 'fal', quality: 'high' }],
    ['/images', 'quality', { model: 'gemini', quality: 'high' }],
    ['/images', 'seed', { model: 'openai-package', seed: 1 }],
    ['/images', 'mask', { model: 'gemini', references: [reference], mask: reference }],
    ['/images', 'references', { model: 'replicate', references: [reference, reference] }],
    ['/videos', 'references', { model: 'film', references: [reference] }],
    ['/videos', 'references', { model: 'fal-film', references: [reference] }],
    ['/videos', 'duration', { model: 'film', duration: 5 }],
    ['/videos', 'ratio', { model: 'film', ratio: '4:3' }],
  ] as const)('%s is refused before it is accepted, and names %s', async (path, field, body) => {
    const { status, body: answer } = await order(ada, path, { prompt: 'never ordered', ...body });
    expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining(`body.${field}`)]);
    expect(made('never ordered')).toEqual([]);
  });

  it('is foreseeable: the models name their options', async () => {
    const { body } = await ada.agent.call<{ models: { id: string; options: string[]; maxReferences: number }[] }>(
      'GET',
      '/models',
    );
    const offers = Object.fromEntries(
      body.models.map(({ id, options, maxReferences }) => [id, [options, maxReferences]]),
    );
    expect(offers).toMatchObject({
      openai: [['seed', 'quality', 'mask'], 4],
      'openai-package': [['quality', 'mask'], 4],
      fal: [['seed', 'mask'], 9],
      replicate: [['seed', 'mask'], 1],
      gemini: [['seed'], 4],
      film: [['seed', 'firstFrame'], 0],
      'fal-film': [['seed', 'firstFrame'], 0],
    });
  });
});

describe('a home card', () => {
  /** As the content service returns it. */
  const card = (changes: object) => ({
    ...{ id: 'c1', coverType: 'image', image: 'x', title: 'A boat', requiredPlan: 'free', isFeatured: true },
    ...{ prompt: 'the boat of the card', model: 'gemini', ratio: 'auto', mediaType: 'image' },
    inputMedias: [{ type: 'image', url: `${makers.url}/cms/card.png` }],
    ...changes,
  });

  it('starts as it is, with its images as references of the user', async () => {
    const { status, body } = await order(ada, '/images', card({ n: 1 }));
    expect([status, body.status, body.model]).toEqual([201, 'completed', 'gemini']);
    expect(made('the boat of the card')).toMatchObject([{ wire: 'google', images: 1 }]);
    const read = async (id: string) =>
      (await ada.media.call<{ ownerId: string; generation: { references: string[] } }>('GET', `/v1/assets/${id}`)).body;
    const { generation, ownerId } = await read(String(body.items[0]?.assetId));
    const [reference = ''] = generation.references;
    expect((await read(reference)).ownerId).toBe(ownerId);
    // The same image is one asset, and a video starts with it.
    const film = card({
      model: 'film',
      ratio: '9:16',
      mediaType: 'video',
      prompt: 'the waves of the card',
      duration: 4,
    });
    const { body: filmed } = await order(ada, '/videos', film);
    expect((await read(String(filmed.items[0]?.assetId))).generation.references).toEqual([reference]);
    expect(made('the waves of the card')).toMatchObject([{ images: 1, fields: { size: '720x1280' } }]);
  });

  it.each([
    ['another host', () => 'http://127.0.0.1:9/cms/card.png'],
    ['the same host at another port', () => makers.url.replace(/:\d+$/, ':9').concat('/cms/card.png')],
    [
      'a URL with the host as its user',
      () => `${makers.url.replace('//', '//x@')}/cms/card.png`.replace('127.0.0.1', '127.0.0.2'),
    ],
    ['a redirect', () => `${makers.url}/cms/moved.png`],
    ['an image that does not exist', () => `${makers.url}/cms/none.png`],
    ['no URL', () => 'card.png'],
  ])('with %s is refused', async (_what, url) => {
    const wrong = card({ inputMedias: [{ type: 'image', url: url() }], prompt: 'no card' });
    const { status, body } = await order(ada, '/images', wrong);
    const isRedirect = url().endsWith('moved.png');
    expect(status).toBe(isRedirect ? 503 : 400);
    if (!isRedirect) expect(JSON.stringify(body)).toContain('body.inputMedias.0.url');
    expect(made('no card')).toEqual([]);
  });

  it('with more images than its model takes, or a video, is refused by name', async () => {
    const image = { type: 'image', url: `${makers.url}/cms/card.png` };
    for (const [field, inputMedias] of [
      ['body.references', Array(5).fill(image)],
      ['body.inputMedias.0.type', [{ ...image, type: 'video' }]],
    ] as const) {
      const { status, body } = await order(ada, '/images', card({ inputMedias, prompt: 'no card' }));
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
    }
  });
});

describe('money', () => {
  it('is not needed for a model that is free', async () => {
    const poor = await running.person('poor@example.com', 'free', 0);
    const { status, body } = await order(poor, '/images', { prompt: 'for nothing', model: 'gemini', n: 2 });
    expect([status, body.status, body.credits, await balance(poor)]).toEqual([201, 'completed', 0, 0]);
    const refused = await order(poor, '/images', { prompt: 'for money' });
    expect([refused.status, refused.body.error]).toEqual([402, 'insufficient_credits']);
  });

  it('of a plan without the model is refused', async () => {
    const free = await running.person('free@example.com', 'free', 100);
    const refused = await order(free, '/images', { prompt: 'x', model: 'replicate' });
    expect([refused.status, refused.body.error, await balance(free)]).toEqual([402, 'insufficient_plan', 100]);
  });

  it('returns for what is canceled, and a generation with a delivered image ends completed', async () => {
    const user = await running.person('partly@example.com', 'pro', 100);
    // Images are ordered four at a time: the second order waits at the provider, the first does not.
    const { body } = await order(user, '/images', { prompt: 'a boat', n: 1 });
    expect(body.status).toBe('completed');
    const { body: slow } = await order(user, '/images', { prompt: 'partly <hang-odd>', n: 2 }, {});
    const read = async () => (await user.agent.call<Generation>('GET', `/generations/${slow.id}`)).body;
    await expect.poll(async () => (await read()).items.filter(({ status }) => status === 'completed').length).toBe(1);
    expect((await user.agent.call('DELETE', `/generations/${slow.id}`)).status).toBe(204);
    const ended = await read();
    expect([ended.status, ended.credits, ended.items.map(({ status }) => status).sort()]).toEqual([
      'completed',
      2,
      ['canceled', 'completed'],
    ]);
    expect(await balance(user)).toBe(100 - 2 - 2);
    makers.release();
  });
});

describe('the erasure of a person', () => {
  it('takes generations along', async () => {
    const user = await running.person('erased@example.com', 'pro', 100);
    await order(user, '/images', { prompt: 'to be erased', n: 2 });
    await order(user, '/videos', { prompt: 'to be erased', duration: 4 });
    const list = async () =>
      (await user.agent.call<GenerationPage>('GET', '/generations')).body.generations.map(({ kind }) => kind);
    expect(await list()).toEqual(['video', 'image']);
    const { userId } = user.agent;
    expect((await running.server.agent.call('DELETE', `/people/${userId}`)).status).toBe(200);
    expect(await list()).toEqual([]);
  });
});
