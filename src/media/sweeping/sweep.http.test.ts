import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import { type Client, type MediaRig, onEveryStore, startMedia } from '../../../test/media/rig.fixture.ts';
import { hourMs } from '../../../test/media/sweeping.fixture.ts';
import type { MediaTables } from '../tables.ts';
import type { Swept } from './api.ts';
import { sweepQueue } from './sweep.ts';

onEveryStore('POST /v1/sweep', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  /** A registration that was begun 30 hours ago, its object gone. */
  async function abandoned(): Promise<string> {
    const [planted] = await plant(rig, 1, { isReady: false });
    if (planted === undefined) throw new Error('nothing was planted');
    await rig.originals.remove([planted.storageKey]);
    await rig.database
      .queries<MediaTables>()
      .updateTable('assets')
      .set({ created_at: new Date(Date.now() - 30 * hourMs) })
      .where('asset_id', '=', planted.assetId)
      .execute();
    return planted.assetId;
  }
  const isThere = async (assetId: string) => {
    const rows = rig.database.queries<MediaTables>().selectFrom('assets').select('asset_id');
    return (await rows.where('asset_id', '=', assetId).execute()).length > 0;
  };
  const sweep = (payload: unknown, client: Client = rig.server) => client.post<Swept>('/v1/sweep', payload);

  it('finds page by page, and removes only on request', async () => {
    const assetId = await abandoned();
    const finding = { what: 'unfinished_registration', fate: 'found', assetId, key: expect.any(String) };
    for (const payload of [{}, { apply: false }, { apply: null, cursor: null }])
      expect((await sweep(payload)).body).toEqual({ found: [finding], cursor: 'uploads:' });
    expect(await isThere(assetId)).toBe(true);
    expect((await sweep({ apply: true })).body.found).toEqual([{ ...finding, fate: 'removed' }]);
    expect(await isThere(assetId)).toBe(false);
    const parts: string[] = [];
    for (let cursor: string | null = 'uploads:'; cursor !== null; ) {
      parts.push(cursor.slice(0, cursor.indexOf(':')));
      const { body }: { body: Swept } = await sweep({ apply: true, cursor });
      expect(body.found).toEqual([]);
      cursor = body.cursor;
    }
    // On S3, parts in progress and the objects of resumable uploads are separate pages.
    expect([...new Set(parts)]).toEqual(['uploads', 'resumable', 'evidence', 'trash', 'assets', 'variants']);
  });

  it.each<[string, unknown]>([
    ['apply is no boolean', { apply: 'yes' }],
    ['the cursor names no part', { cursor: 'variant:' }],
    ['the cursor is no cursor', { cursor: '' }],
    ['the cursor of rows is no id', { cursor: 'assets:x' }],
    ['the cursor of objects is no key', { cursor: 'uploads:u/../x' }],
    ['the cursor of variants is no step', { cursor: 'variants:u/a' }],
    ['the cursor of variants names no sweep', { cursor: 'variants:x/note/img/00' }],
    ['the cursor of variants names no bucket', { cursor: `variants:${randomUUID()}/strike/a b/c` }],
    ['the cursor of variants is no key', { cursor: `variants:${randomUUID()}/judge/objects/../x` }],
    ['no body', undefined],
  ])('400 when %s', async (_name, payload) => {
    expect((await sweep(payload)).status).toBe(400);
  });

  it('is for servers', async () => {
    expect((await sweep({}, rig.client({}))).status).toBe(401);
    expect((await sweep({}, rig.user)).status).toBe(403);
  });

  it('is done by the service itself, again and again, by one job', async () => {
    const assetId = await abandoned();
    const jobs = () =>
      rig.database.queries<JobTables>().selectFrom('jobs').selectAll().where('queue', '=', sweepQueue.name).execute();
    const [first, ...more] = await jobs();
    expect([first?.status, more]).toEqual(['waiting', []]);
    expect(
      (
        await rig.jobs.enqueue(
          rig.database.queries(),
          sweepQueue,
          { since: new Date().toISOString(), cursor: null },
          { key: 'sweep' },
        )
      ).created,
    ).toBe(false);
    await rig.database
      .queries<JobTables>()
      .updateTable('jobs')
      .set({ run_at: new Date(0) })
      .where('job_id', '=', String(first?.job_id))
      .execute();
    await expect.poll(() => isThere(assetId), { timeout: 60_000 }).toBe(false);
    await expect
      .poll(async () => (await jobs()).map(({ status }) => status).sort(), { timeout: 60_000 })
      .toEqual(['done', 'waiting']);
    const next = (await jobs()).find(({ status }) => status === 'waiting');
    expect(next?.payload).toEqual({ ...(first?.payload as object), cursor: null });
    expect(next?.run_at.getTime()).toBeGreaterThan(Date.now() + 5 * hourMs);
  });
});
