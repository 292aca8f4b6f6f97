/** Random orders of images and videos, with failures, cancellations and kills; and what must be true when all have ended. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Generation, GenerationPage } from '#agent/generation/api.ts';
import { retry } from '#platform/resilience.ts';
import { newLanePlace } from '../acceptance/running.fixture.ts';
import { type Makers, makersKey, startMakers } from './makers.fixture.ts';
import { balance, order, type Person, type Running, start } from './program.fixture.ts';

export interface World {
  readonly makers: Makers;
  running: Running;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function openWorld(settings: Readonly<Record<string, string>> = {}): Promise<World> {
  const makers = await startMakers();
  const place = await newLanePlace();
  const file = join(place.dataDir, 'models.json');
  const { baseUrls } = makers;
  const models = [
    { kind: 'image', id: 'openai', baseUrl: baseUrls.openai, model: 'gpt-image-1' },
    {
      kind: 'image',
      id: 'gemini',
      provider: 'google',
      baseUrl: baseUrls.google,
      model: 'gemini-2.5-flash-image',
      credits: 3,
    },
    { kind: 'image', id: 'fal', provider: 'fal', baseUrl: baseUrls.fal, model: 'fal-ai/flux', credits: 1 },
    { kind: 'video', id: 'film', baseUrl: baseUrls.openai, model: 'sora-2', credits: 7 },
  ];
  await writeFile(file, JSON.stringify(models.map((model) => ({ ...model, apiKeyEnv: 'MAKERS_KEY' }))));
  const env = {
    MODELS_FILE: file,
    MAKERS_KEY: makersKey,
    AGENT_FREE_CANCELS_PER_DAY: '3',
    AGENT_MAX_RUNS_PER_USER: '100',
    ...settings,
  };
  const world: World = {
    makers,
    running: await start(place, env),
    env,
    async close() {
      await world.running.stop();
      makers.close();
      await place.remove();
    },
  };
  return world;
}

/** Kills the program, and lets orders that wait go on. Returns the person of the program that is started then. */
export async function killAndRestart(world: World, person: Person): Promise<Person> {
  world.running.program.child.kill('SIGKILL');
  await world.running.program.ended();
  world.makers.release();
  world.running = await start(world.running.place, world.env);
  return world.running.again(person);
}

/** A linear congruential generator: a failure can be repeated with its seed. */
function randomOf(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

const patience = { attempts: 60, baseDelayMs: 200, maxDelayMs: 1000, isRetryable: () => true };
const scripts = ['', '', '', '<refuse>', '<broken>', '<hang>', '<hang-odd>', '<fail>'] as const;

export interface Play {
  readonly seed: number;
  readonly orders: number;
  /** After which orders the program is killed. */
  readonly killsAfter: readonly number[];
}

/** Returns the person, whose orders have all ended. */
export async function play(world: World, { seed, orders, killsAfter }: Play): Promise<Person> {
  const random = randomOf(seed);
  const email = `money-${seed}@example.com`;
  const credits = 400;
  let person = await world.running.person(email, 'pro', credits);
  const ordered: string[] = [];
  for (let index = 0; index < orders; index++) {
    const prompt = `${seed}-${index} ${scripts[random(scripts.length)]}`;
    const isVideo = random(4) === 0;
    const model = isVideo ? 'film' : ['openai', 'gemini', 'fal'][random(3)];
    const wanted = isVideo ? {} : { n: 1 + random(4) };
    const send = async () => {
      const key = { 'idempotency-key': `${seed}-${index}` };
      const answer = await order(person, isVideo ? '/videos' : '/images', { prompt, model, ...wanted }, key);
      // A process that has just started may be too busy. The order may have been placed nevertheless.
      if (answer.status === 503) throw new Error('the service is not available');
      return answer;
    };
    const { status, body } = await retry(send, patience);
    expect([202, 402]).toContain(status);
    if (status === 202) ordered.push(body.id);
    if (ordered.length > 0 && random(3) === 0) {
      const id = ordered[random(ordered.length)];
      expect((await person.agent.call('DELETE', `/generations/${id}`)).status).toBe(204);
    }
    if (random(4) === 0) world.makers.release();
    if (!killsAfter.includes(index)) continue;
    person = await killAndRestart(world, person);
  }
  const running = async () => {
    world.makers.release();
    return (await list(person, '&status=running')).length;
  };
  await expect.poll(running, { timeout: 120_000, interval: 500 }).toBe(0);
  await expectAgreement(world, person, credits, `${seed}-`);
  return person;
}

async function list({ agent }: Person, query = ''): Promise<Generation[]> {
  const all: Generation[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await agent.call<GenerationPage>('GET', `/generations?limit=100${query}${at}`);
    all.push(...body.generations);
    cursor = body.next_cursor;
  }
  return all;
}

/** Ledger, usage, generations, library and the orders of the providers. */
async function expectAgreement(world: World, person: Person, credits: number, prefix: string): Promise<void> {
  const generations = await list(person);
  const items = generations.flatMap((generation) => generation.items.map((item) => ({ ...item, generation })));
  const delivered = items.filter(({ status }) => status === 'completed');
  const charged = generations.reduce((sum, one) => sum + one.credits, 0);
  const { body: usage } = await person.agent.call<{ days: { images: number; videos: number; credits: number }[] }>(
    'GET',
    '/usage',
  );
  const used = (field: 'images' | 'videos' | 'credits') => usage.days.reduce((sum, day) => sum + day[field], 0);
  const library = async (type: string) => {
    const query = `type=${type}&limit=200&thumbnails=false`;
    const { body } = await person.media.call<{ assets: { assetId: string; generation: object | null }[] }>(
      'GET',
      `/v1/assets?${query}`,
    );
    return body.assets.filter(({ generation }) => generation !== null).map(({ assetId }) => assetId);
  };
  const [images, videos] = [await library('image'), await library('video')];
  expect(await balance(person)).toBe(credits - charged);
  expect([used('credits'), used('images'), used('videos')]).toEqual([charged, images.length, videos.length]);
  expect(delivered.map(({ assetId }) => assetId).sort()).toEqual([...images, ...videos].sort());
  for (const generation of generations) {
    const made = world.makers.orders.filter(({ prompt }) => prompt === generation.prompt);
    const own = delivered.filter((item) => item.generation.id === generation.id);
    // Nothing is ordered twice, and nothing is delivered without an order.
    expect(made.length).toBeLessThanOrEqual(generation.items.length);
    expect(made.length).toBeGreaterThanOrEqual(own.length);
    const status = own.length > 0 ? ['completed'] : ['failed', 'canceled'];
    expect(status).toContain(generation.status);
    // Each item is free if it is not delivered, except for cancellations beyond the free ones of a day.
    const price = { openai: 2, gemini: 3, fal: 1, film: 7 }[generation.model] ?? 0;
    expect(generation.credits).toBeGreaterThanOrEqual(own.length * price);
    if (generation.items.every(({ status: ofItem }) => ofItem !== 'canceled'))
      expect(generation.credits).toBe(own.length * price);
  }
  expect(world.makers.orders.some(({ prompt }) => prompt.startsWith(prefix))).toBe(true);
}
