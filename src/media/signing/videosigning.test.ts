import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { defaultBrand } from '#image/engine/brand.ts';
import type { Caller } from '#platform/access/caller.ts';
import type { Database } from '#platform/db/db.ts';
import { defaultLegacyBucket } from '#platform/objects/objects.ts';
import { openTestCache } from '../../../test/caches.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { openFiles } from '../../../test/media/registering.fixture.ts';
import type { VideoSignedRefs } from '../api.ts';
import { draftAsset, markReady } from '../assets/assetstore.ts';
import type { MediaContext } from '../context.ts';
import type { MediaTables } from '../tables.ts';
import { signVideos } from './videosigning.ts';

const caller: Caller = { kind: 'internal' };
const ownerId = randomUUID();

describe.each(laneEngines)('signing videos on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    beforeAll(async () => {
      database = await engine.open(migrations);
    });
    afterAll(() => database.close());

    async function stored(mime: string, thumbAssetId: string | null = null): Promise<string> {
      const db = database.queries<MediaTables>();
      const assetId = randomUUID();
      const identity = { assetId, ownerId, scopeKind: 'thread', scopeId: '1', kind: 'video', requestedMime: mime };
      const place = { bucket: 'objects', storageKey: assetId, etag: '"1"', byteSize: 1 };
      const unknown = {
        sha256: null,
        md5: null,
        pdq: null,
        pdqQuality: null,
        width: null,
        height: null,
        durationMs: null,
        blurhash: null,
        animated: null,
        prompt: null,
        model: null,
        generated: null,
        isTrashed: false,
        name: null,
      };
      await draftAsset(db, identity, place, { ...unknown, mime, thumbAssetId });
      await markReady(db, assetId, place.etag);
      return assetId;
    }

    /** The queries that it took, and what was logged. The query of number `failAt`, from 1, fails. */
    async function sign(refs: readonly string[], failAt = 0) {
      const logged: unknown[] = [];
      let queries = 0;
      const deps = {
        brand: defaultBrand,
        db: database.queries<MediaTables>().withPlugin({
          transformQuery: ({ node }) => {
            queries += 1;
            if (queries === failAt) throw new Error('no response');
            return node;
          },
          transformResult: async ({ result }) => result,
        }),
        objects: { ...openFiles(tmpdir()), readAddress: (key: string) => `read:${key}` },
        legacy: { bucket: () => undefined },
        resizeAddress: ({ key }: { key: string }) => `resize:${key}`,
        publicScopes: [],
        signedUrls: openTestCache(database),
        addressing: '',
        log: { warn: (facts: unknown) => logged.push(facts) },
      } as unknown as MediaContext;
      const answer: VideoSignedRefs = JSON.parse(
        String(await signVideos(deps, caller, { refs: [...refs], legacyBucket: defaultLegacyBucket })),
      );
      return { answer, queries, logged };
    }

    it('needs no query for invalid refs, one for paths, one without thumbnails, two with them', async () => {
      const thumbs = await Promise.all([stored('image/png'), stored('image/png')]);
      const plain = await Promise.all([stored('video/mp4'), stored('video/webm')]);
      const withThumbs = await Promise.all(thumbs.map((thumb) => stored('video/mp4', thumb)));
      expect((await sign([])).queries).toBe(0);
      expect((await sign(['x'])).queries).toBe(0);
      expect((await sign(['a/b', 'c/d'])).queries).toBe(1);
      expect((await sign([...plain, randomUUID()])).queries).toBe(1);
      const { queries, logged } = await sign([...plain, ...withThumbs, ...thumbs, randomUUID()]);
      expect([queries, logged]).toEqual([2, []]);
    });

    it('logs a thumbnail that does not resolve, once for all refs', async () => {
      const videos = await Promise.all([stored('video/mp4', randomUUID()), stored('video/mp4', randomUUID())]);
      const { logged } = await sign(videos);
      expect(logged).toEqual([{ assetIds: expect.toSatisfy((ids: string[]) => ids.length === 2) }]);
    });

    it('returns the URL of the video when the thumbnails cannot be looked up, and names none', async () => {
      const assetId = await stored('video/mp4', await stored('image/png'));
      const { answer, logged } = await sign([assetId], 2);
      expect(answer[assetId]).toMatchObject({ ready: true, url: `read:${assetId}`, thumbAssetId: null });
      expect(answer[assetId]).not.toHaveProperty('thumbUrl');
      expect(logged).toHaveLength(1);
    });

    it('fails when the refs themselves cannot be looked up', async () => {
      await expect(sign([randomUUID()], 1)).rejects.toThrow('no response');
    });
  });
});
