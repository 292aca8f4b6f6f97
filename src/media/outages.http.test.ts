import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { systemClock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openObjects } from '#platform/objects/open.ts';
import { problems } from '#platform/problem.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import { makeImage } from '../../test/media/images.fixture.ts';
import { plant, remaining } from '../../test/media/planting.fixture.ts';
import {
  type Client,
  embedded,
  type MediaRig,
  type Refusal,
  startMedia,
  upload,
} from '../../test/media/rig.fixture.ts';

const said = { scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/png' };
let rig: MediaRig | undefined;
afterEach(() => rig?.close());

async function statuses(user: Client): Promise<readonly unknown[]> {
  const answers = await Promise.all([
    user.post<Refusal>('/v1/uploads', said),
    user.post<Refusal>('/v1/assets', { ...said, assetId: randomUUID() }),
    user.post<Refusal>('/v1/sign/image', { refs: [randomUUID()] }),
  ]);
  return answers.map(({ status, body, headers }) =>
    status === 200 ? 200 : [status, body.error, headers.has('retry-after')],
  );
}

describe('without an object store', () => {
  it('registers nothing, but still reserves uploads and signs URLs', async () => {
    rig = await startMedia({
      ...embedded,
      openObjects: async () => {
        const { originals, publicObjects, close } = await openObjects({
          settings: {
            endpoint: 'http://127.0.0.1:1',
            region: 'auto',
            bucket: 'objects',
            publicBucket: 'public',
            accessKeyId: 'id',
            secretAccessKey: 'secret',
          },
          production: true,
          dataDir: tmpdir(),
          clock: systemClock,
          log: createLog({ level: 'silent' }),
        });
        return { originals, publicObjects, close };
      },
    });
    expect(await statuses(rig.user)).toEqual([200, [503, 'engine_unavailable', true], 200]);
    const pending = await rig.server.post('/v1/uploads/sign-pending', {
      ...said,
      assetId: randomUUID(),
      ownerId: rig.userId,
    });
    expect([pending.status, pending.body.error]).toEqual([503, 'engine_unavailable']);
    expect((await rig.user.post('/v1/sign/video', { refs: [randomUUID()] })).status).toBe(200);
  });
});

describe('without a database', () => {
  it.each(laneEngines.filter(({ missing }) => !missing))(
    '$name: reserves uploads and signs pending objects',
    async (engine) => {
      const database = await engine.open(migrations);
      rig = await startMedia({
        ...embedded,
        openDatabase: async () => ({ ...database, close: async () => undefined }),
      });
      const { registration, storageKey } = await upload(rig.user, await makeImage('png'));
      await database.close();
      const [reserved, registered, signed] = await statuses(rig.user);
      expect(reserved).toBe(200);
      for (const answer of [registered, signed]) expect(answer).toEqual([503, expect.any(String), true]);
      expect((await rig.user.register(registration)).status).toBe(503);
      for (const [path, payload] of [
        ['/v1/sign/video', { refs: [randomUUID()] }],
        ['/v1/fit', { ref: randomUUID(), width: 1 }],
      ] as const) {
        expect([path, (await rig.user.post(path, payload)).status]).toEqual([path, 503]);
      }
      const pending = { ...registration, ownerId: rig.userId };
      expect((await rig.server.post('/v1/uploads/sign-pending', pending)).status).toBe(200);
      expect(await rig.originals.head(storageKey)).toBeDefined();
    },
  );
});

describe('while a bucket fails', () => {
  const fails = async () => {
    throw problems.engine_unavailable();
  };
  const refuses = async (keys: readonly string[]) => ({
    removed: [],
    failed: keys.map((key) => ({ key, reason: 'AccessDenied' })),
  });

  it.each<[string, 'originals' | 'publicObjects', Partial<Objects>, number]>([
    ['originals cannot be reached', 'originals', { remove: fails }, 2],
    ['originals cannot be removed', 'originals', { remove: refuses }, 2],
    [
      'variants cannot be listed',
      'publicObjects',
      {
        list: () => {
          throw problems.engine_unavailable();
        },
      },
      0,
    ],
  ])('%s: deletions are 503, keep the rows and can be repeated', async (_name, bucket, failing, objects) => {
    let isFailing = true;
    rig = await startMedia({
      ...embedded,
      openObjects: async (edge) => {
        const stores = await embedded.openObjects(edge);
        const whole = stores[bucket];
        const broken = new Proxy(whole, {
          get: (target, name) => Reflect.get(isFailing && name in failing ? failing : target, name),
        });
        return { ...stores, [bucket]: broken };
      },
    });
    const planted = await plant(rig, 2);
    const ids = planted.map(({ assetId }) => assetId);
    for (const [path, payload] of [
      ['/v1/assets', { ids }],
      ['/v1/scope', { ownerId: rig.userId }],
    ] as const) {
      const { status, body, headers } = await rig.user.delete(path, payload);
      expect([status, body.error, headers.has('retry-after')]).toEqual([503, 'engine_unavailable', true]);
      expect(await remaining(rig, planted)).toEqual({ rows: 2, objects });
    }
    isFailing = false;
    const { status, body } = await rig.user.delete<unknown>('/v1/assets', { ids });
    expect([status, body]).toEqual([200, { deletedNew: 2, deletedLegacy: 0 }]);
    expect(await remaining(rig, planted)).toEqual({ rows: 0, objects: 0 });
  });
});
