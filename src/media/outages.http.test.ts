import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import { openObjects } from '#platform/objects/open.ts';
import { databaseEngines } from '../../test/database.ts';
import { picture } from '../../test/media/pictures.ts';
import { type Client, embedded, type MediaRig, type Refusal, startMedia, upload } from '../../test/media/rig.ts';
import { migrations } from '../migrations.ts';

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
  it('nothing is registered; places are reserved and addresses signed all the same', async () => {
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
  it.each(databaseEngines.filter(({ missing }) => !missing))(
    '$name, places are reserved and pending objects signed all the same',
    async (engine) => {
      const database = await engine.open(migrations);
      rig = await startMedia({
        ...embedded,
        openDatabase: async () => ({ ...database, close: async () => undefined }),
      });
      const { said: registration, storageKey } = await upload(rig.user, await picture('png'));
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
