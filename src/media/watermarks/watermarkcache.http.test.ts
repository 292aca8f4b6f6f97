import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clip } from '../../../test/media/clips.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { lay } from '../../../test/media/laying.fixture.ts';
import { type Client, type MediaRig, onEveryStore, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { WatermarkedImage } from '../api.ts';
import type { Swept } from '../sweeping/api.ts';

type Kind = 'watermark' | 'watermark-video';

onEveryStore('answers of watermarks that are kept', (pair) => {
  let rig: MediaRig;
  let folder: string;
  const bytes: Partial<Record<Kind, Buffer>> = {};
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-wm-'));
    bytes.watermark = await makeImage('jpeg');
    rig = await startMedia(pair);
  });
  afterAll(async () => {
    await rig.close();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = (kind: Kind, ref: string, client: Client = rig.user) =>
    client.post<WatermarkedImage>(`/v1/${kind}`, { ref, legacyBucket: rig.legacyBucket });
  /** Addresses expire at whole seconds: one that was signed later is another. */
  const aSecondLater = () => new Promise((resolve) => setTimeout(resolve, 1100));

  describe.each<[Kind, object]>([
    ['watermark', { mime: 'image/jpeg' }],
    ['watermark-video', { mime: 'video/mp4', kind: 'video' }],
  ])('of %s', (kind, what) => {
    describe.skipIf(kind === 'watermark-video' && skipWithout('ffmpeg'))('', () => {
      beforeAll(async () => {
        if (kind === 'watermark-video') bytes[kind] = await readFile(await render(clip, folder));
      });

      async function registered(changes: object = {}, client = rig.user) {
        const uploaded = await upload(client, bytes[kind] ?? Buffer.of(), { ...what, ...changes });
        expect((await client.register(uploaded.registration)).status).toBe(201);
        return uploaded;
      }

      it('are the same for a day, for all callers who can read them', async () => {
        const { assetId } = await registered();
        let first = await ask(kind, assetId);
        expect([first.status, Object.keys(first.body)]).toEqual([200, ['url']]);
        // A cache that is slow on a busy machine is a miss: the next one fills it.
        await expect
          .poll(
            async () => {
              first = await ask(kind, assetId);
              await aSecondLater();
              return (await ask(kind, assetId.toUpperCase())).body.url === first.body.url;
            },
            { timeout: 20_000 },
          )
          .toBe(true);
        expect((await ask(kind, assetId, rig.server)).body).toEqual(first.body);
        expect((await fetch(first.body.url)).status).toBe(200);
      });

      it('are not returned to callers without the right', async () => {
        const { assetId } = await registered();
        const open = await registered({ scopeKind: 'feed' });
        for (const id of [assetId, open.assetId]) expect((await ask(kind, id)).status).toBe(200);
        expect((await ask(kind, assetId, rig.otherUser)).status).toBe(404);
        expect((await ask(kind, open.assetId, rig.otherUser)).status).toBe(200);
      });

      it('end with a deletion, and with an asset whose bytes were lost', async () => {
        const [deleted, lost] = [await registered(), await registered()];
        for (const { assetId } of [deleted, lost]) expect((await ask(kind, assetId)).status).toBe(200);
        expect((await rig.user.delete('/v1/assets', { ids: [deleted.assetId] })).status).toBe(200);
        expect((await ask(kind, deleted.assetId)).status).toBe(404);
        await rig.originals.remove([lost.storageKey]);
        let cursor: string | null = 'assets:';
        while (cursor !== null)
          cursor = (await rig.server.post<Swept>('/v1/sweep', { apply: true, cursor })).body.cursor;
        expect((await ask(kind, lost.assetId)).status).toBe(404);
      });

      it('are never stored for unresolved refs or the wrong kind', async () => {
        const other = kind === 'watermark' ? 'watermark-video' : 'watermark';
        const { registration, assetId } = await upload(rig.user, bytes[kind] ?? Buffer.of(), what);
        expect((await ask(kind, assetId)).status).toBe(404);
        expect((await rig.user.register(registration)).status).toBe(201);
        expect((await ask(kind, assetId)).status).toBe(200);
        expect((await ask(other, assetId)).status).toBe(400);
        expect((await ask(kind, assetId)).status).toBe(200);
      });
    });
  });

  it('are not sent without a lookup for legacy files, which other systems can remove', async () => {
    const path = `${rig.userId}/photo.jpg`;
    await lay(rig, [path], bytes.watermark);
    const first = await ask('watermark', path);
    expect(first.status).toBe(200);
    await rig.legacyFiles.remove([path]);
    expect((await ask('watermark', path)).status).toBe(404);
  });
});
