/** Ids that the product derives from names cannot be taken by users. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { inBucket, lay } from '../../../test/media/laying.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, startMedia } from '../../../test/media/rig.fixture.ts';
import type { Asset } from '../api.ts';
import { posterIdOf } from '../assets/asset.ts';
import { importedIdOf } from './importing.ts';

onEveryPair('ids that the product derives', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());
  const what = { scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/png' };

  it('are 400 for users at every endpoint that takes an id, and free for the import', async () => {
    const ownerId = randomUUID();
    const path = `${ownerId}/photo.png`;
    await lay(rig, [path], await makeImage('png'));
    for (const assetId of [importedIdOf(rig.legacyBucket, path), posterIdOf(randomUUID()).toUpperCase()])
      for (const call of ['/v1/uploads', '/v1/assets', '/v1/media-tasks/video']) {
        const mime = call.endsWith('video') ? 'video/mp4' : what.mime;
        const { status, body } = await rig.user.post<Refusal>(call, { ...what, mime, assetId });
        expect([call, status, body.issues?.map((issue) => issue.path)]).toEqual([call, 400, ['body.assetId']]);
      }
    const imported = await inBucket(rig, rig.server).post<Asset>('/v1/assets/legacy', { ...what, ownerId, path });
    expect(imported.status).toBe(201);
    expect(imported.body).toMatchObject({ assetId: importedIdOf(rig.legacyBucket, path), ownerId });
  });

  it('are accepted from servers, and users choose other ids', async () => {
    const assetId = posterIdOf(randomUUID());
    expect((await rig.server.reserve({ ...what, ownerId: randomUUID(), assetId })).status).toBe(200);
    expect((await rig.user.reserve({ ...what, assetId: randomUUID() })).status).toBe(200);
  });
});
