/** Two processes of the media service on one PostgreSQL and one Redis: what one has cached the other may not lie by. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient as createRedisClient } from '@redis/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { VideoSignedRefs } from '#media/api.ts';
import { fillBarrierMs } from '#platform/cache/cache.ts';
import { newPlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { startTestIssuer, testUserId } from '../platform/tokenissuer.fixture.ts';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';
import { startTcpFront, type TcpFront } from '../tcpfront.fixture.ts';
import { makeImage } from './images.fixture.ts';
import { type Client, createClient, upload } from './rig.fixture.ts';

const notFound = { ready: false, error: 'not_found' };
const isMissing = skipWithoutRedis || databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);

/** One process, and those who call it. */
interface Here {
  readonly url: string;
  readonly program: Program;
  readonly user: Client;
  readonly otherUser: Client;
}

describe.skipIf(isMissing)('two processes of media on PostgreSQL and Redis', () => {
  let databaseUrl: string;
  let redis: RedisServer;
  let front: TcpFront;
  let one: Here;
  let two: Here;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const [database, issuer] = [await createMigratedDatabase(migrations), await startTestIssuer()];
    databaseUrl = database.url;
    redis = await startRedisServer();
    front = await startTcpFront(redis.url);
    const places = [await newPlace(), await newPlace()] as [Place, Place];
    closers.push(
      () => Promise.all(places.map((place) => place.remove())),
      database.drop,
      issuer.close,
      redis.close,
      front.close,
    );
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: front.urlOf(redis.url),
      JWKS_URL: issuer.jwksUrl,
      // Secrets, and the objects, which processes of one machine may share.
      ATELIER_DATA_DIR: places[0].dataDir,
      EDGE_URL: `http://127.0.0.1:${places[0].portBase + 10}`,
    };
    const other = randomUUID();
    const start = async ({ portBase }: Place, services: readonly string[]): Promise<Here> => {
      const program: Program = run('start', services, { ...env, ATELIER_PORT_BASE: String(portBase) });
      closers.push(async () => {
        program.child.kill('SIGKILL');
        await program.ended();
      });
      await program.waitFor('Atelier is ready');
      const url = `http://127.0.0.1:${portBase + 1}`;
      const as = async (sub: string) => createClient(url, { authorization: `Bearer ${await issuer.token({ sub })}` });
      return { url, program, user: await as(testUserId), otherUser: await as(other) };
    };
    one = await start(places[0], ['media', 'edge']);
    two = await start(places[1], ['media']);
  }, 120_000);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  async function registered(client: Client, changes: object = {}, bytes?: Uint8Array): Promise<string> {
    const { registration, assetId } = await upload(client, bytes ?? (await makeImage('png')), changes);
    expect((await client.register({ ...changes, ...registration })).status).toBe(201);
    return assetId;
  }
  const video = (client: Client, thumbAssetId: string, changes: object = {}) =>
    registered(client, { kind: 'video', mime: 'video/mp4', thumbAssetId, ...changes }, Buffer.from('moving'));

  const signed = async (client: Client, ref: string) => {
    const { status, body } = await client.sign([ref]);
    expect(status).toBe(200);
    return body[ref];
  };
  const signedVideo = async (client: Client, ref: string) =>
    (await client.post<VideoSignedRefs>('/v1/sign/video', { refs: [ref] })).body[ref];
  const remove = async (client: Client, ...ids: string[]) => (await client.delete('/v1/assets', { ids })).status;

  /** Signed over and over, until the second process answers with what the first one has made: from the cache. */
  async function cached(ref: string): Promise<void> {
    await expect
      .poll(
        async () => {
          const [here, sooner] = [await signed(one.user, ref), performance.now()];
          // Addresses are made to the second: another one would differ.
          await sleep(1100 - (performance.now() - sooner));
          const there = await signed(two.user, ref);
          return here?.ready && there?.ready && here.url === there.url;
        },
        { timeout: 60_000 },
      )
      .toBe(true);
  }

  it('share signed URLs, and return them only to callers who can read them', async () => {
    const [own, shared] = [await registered(one.user), await registered(one.user, { scopeKind: 'feed' })];
    await Promise.all([own, shared].map(cached));
    for (const { otherUser, user } of [one, two]) {
      expect(await signed(otherUser, own)).toEqual(notFound);
      expect(await signed(otherUser, shared)).toMatchObject({ ready: true });
      expect(await signed(user, own)).toMatchObject({ ready: true });
    }
  });

  it('show a thumbnail only to callers who can read it, independent of the first caller', async () => {
    const thumb = await registered(one.user);
    const assetId = await video(one.user, thumb, { scopeKind: 'feed' });
    for (const here of [one, two, one, two]) {
      expect(await signedVideo(here.user, assetId)).toMatchObject({
        thumbUrl: expect.any(String),
        thumbAssetId: thumb,
      });
      const shown = await signedVideo(here.otherUser, assetId);
      expect(shown).toMatchObject({ ready: true, thumbAssetId: thumb });
      expect(shown).not.toHaveProperty('thumbUrl');
    }
  });

  it('cache images and videos separately', async () => {
    const thumb = await registered(one.user);
    const assetId = await video(one.user, thumb);
    await signedVideo(one.user, assetId);
    for (const { user } of [two, one, two]) {
      expect(await signed(user, assetId)).not.toHaveProperty('thumbAssetId');
      expect(await signedVideo(user, assetId)).toHaveProperty('thumbAssetId', thumb);
    }
  });

  it('do not cache unresolved refs', async () => {
    const { registration, assetId } = await upload(one.user, await makeImage('png'));
    const clip = await video(one.user, assetId);
    for (const { user } of [one, two]) {
      expect(await signed(user, assetId)).toEqual(notFound);
      expect(await signedVideo(user, clip)).not.toHaveProperty('thumbUrl');
    }
    expect((await two.user.register(registration)).status).toBe(201);
    for (const { user } of [one, two]) {
      expect(await signed(user, assetId)).toMatchObject({ ready: true });
      expect(await signedVideo(user, clip)).toHaveProperty('thumbUrl');
    }
  });

  it('sign nothing that the other process deleted, including a video’s thumbnail', async () => {
    const [still, thumb] = [await registered(one.user), await registered(one.user)];
    const clip = await video(one.user, thumb);
    await cached(still);
    for (const { user } of [one, two]) await signedVideo(user, clip);
    expect(await remove(two.user, still, thumb)).toBe(200);
    for (const { user } of [one, two]) {
      expect(await signed(user, still)).toEqual(notFound);
      expect(await signedVideo(user, clip)).toMatchObject({ ready: true, thumbAssetId: thumb });
      expect(await signedVideo(user, clip)).not.toHaveProperty('thumbUrl');
    }
    const scopeId = randomUUID();
    const inScope = await registered(one.user, { scopeId });
    await cached(inScope);
    expect((await two.user.delete('/v1/scope', { ownerId: testUserId, scopeKind: 'thread', scopeId })).status).toBe(
      200,
    );
    for (const { user } of [one, two]) expect(await signed(user, inScope)).toEqual(notFound);
  });

  it('lose every race of a signing against a deletion', { timeout: 120_000 }, async () => {
    for (let round = 0; round < (isNightly ? 12 : 4); round++) {
      const assetId = await registered(one.user);
      let isOver = false;
      const signing = [one, two].flatMap(({ user }) =>
        Array.from({ length: 4 }, async () => {
          while (!isOver) await signed(user, assetId);
        }),
      );
      await sleep(Math.random() * 50);
      expect(await remove(one.user, assetId)).toBe(200);
      for (const { user } of [one, two, one, two]) expect(await signed(user, assetId)).toEqual(notFound);
      isOver = true;
      await Promise.all(signing);
      for (const { user } of [one, two]) expect(await signed(user, assetId)).toEqual(notFound);
    }
  });

  /** Both processes say that all their engines answer. */
  const allIsWell = () =>
    expect
      .poll(async () => Promise.all([one, two].map(async ({ url }) => (await fetch(`${url}/ready`)).status)), {
        timeout: 15_000,
      })
      .toEqual([200, 200]);

  it('ignore outdated data of a restored Redis', { timeout: 180_000 }, async () => {
    const [gone, stays] = [await registered(one.user), await registered(one.user)];
    await Promise.all([gone, stays].map(cached));
    await command(redis.url, 'SAVE');
    expect(await remove(one.user, gone)).toBe(200);
    redis.signal('SIGKILL');
    for (const { user } of [one, two]) expect(await signed(user, stays)).toMatchObject({ ready: true });
    await redis.start();
    await allIsWell();
    for (const { user } of [one, two, one, two]) expect(await signed(user, gone)).toEqual(notFound);
    // After the time in which nothing is filled in, it caches again.
    await letBarrierPass(databaseUrl);
    await cached(stays);
  });

  it('use no cached entry whose invalidation Redis missed', { timeout: 180_000 }, async () => {
    const [gone, later, stays] = [await registered(one.user), await registered(one.user), await registered(one.user)];
    await Promise.all([gone, later, stays].map(cached));
    const printed = [one, two].map(({ program }) => program.output().length);
    redis.signal('SIGSTOP');
    for (const { user } of [one, two]) expect(await signed(user, stays)).toMatchObject({ ready: true });
    // At first, invalidations wait in the socket of Redis. Then the processes close the connections and send none.
    expect(await remove(one.user, gone)).toBe(200);
    const losses = () =>
      [one, two].map(({ program }, index) => {
        const lines = program.output().slice(printed[index]).split('\n');
        return lines.some((line) => line.includes('"commands"') && line.includes('Redis is unavailable'));
      });
    await expect.poll(losses, { timeout: 30_000 }).toEqual([true, true]);
    const startedAt = performance.now();
    expect(await remove(one.user, later)).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    redis.signal('SIGCONT');
    for (const { user } of [two, one, two]) expect(await signed(user, later)).toEqual(notFound);
    await allIsWell();
    for (const { user } of [two, one, two])
      for (const ref of [gone, later]) expect(await signed(user, ref)).toEqual(notFound);
    expect(await signed(two.user, stays)).toMatchObject({ ready: true });
    // After the time in which nothing is filled in, it caches again.
    await letBarrierPass(databaseUrl);
    await cached(stays);
  });

  it('leave a Redis that became a replica, and sign nothing from it', { timeout: 180_000 }, async () => {
    const [gone, stays] = [await registered(one.user), await registered(one.user)];
    await letBarrierPass(databaseUrl);
    await Promise.all([gone, stays].map(cached));
    const successor = await startRedisServer();
    closers.push(successor.close);
    const { hostname, port } = new URL(successor.url);
    front.switchTo(successor.url);
    await command(redis.url, 'REPLICAOF', hostname, port);
    expect(await remove(one.user, gone)).toBe(200);
    for (const { user } of [one, two]) {
      expect(await signed(user, gone)).toEqual(notFound);
      expect(await signed(user, stays)).toMatchObject({ ready: true });
    }
    await allIsWell();
    for (const { user } of [one, two, one, two]) expect(await signed(user, gone)).toEqual(notFound);
    await letBarrierPass(databaseUrl);
    await cached(stays);
  });
});

/** Moves the last invalidation of the whole cache into the past, so that processes cache again at once. */
async function letBarrierPass(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(`update cache_epochs set raised_at = raised_at - make_interval(secs => $1)`, [
    fillBarrierMs / 1000,
  ]);
  await client.end();
  // Otherwise Redis accepted every invalidation, and the test showed nothing.
  expect(rowCount).toBeGreaterThan(0);
}

async function command(url: string, ...words: readonly string[]): Promise<void> {
  const client = createRedisClient({ url });
  await client.connect();
  await client.sendCommand([...words]);
  client.destroy();
}
