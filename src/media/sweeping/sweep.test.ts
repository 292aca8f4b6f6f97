import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectSource } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import type { Database } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type Planted, plant } from '../../../test/media/planting.fixture.ts';
import { onEveryPair } from '../../../test/media/rig.fixture.ts';
import { hourMs, openSweepGround, type SweepGround, sweepAll } from '../../../test/media/sweeping.fixture.ts';
import { posterIdOf } from '../assets/asset.ts';
import { renditionKeyOf, storageKeyOf } from '../assets/storagekey.ts';
import { evidenceKeyOf } from '../quarantine/quarantine.ts';
import type { MediaTables } from '../tables.ts';
import { insertRun } from '../tasks/taskstore.ts';

const transform = toTransform({ width: 8, height: 8 });

onEveryPair('a sweep', (pair) => {
  const ownerId = randomUUID();
  const contentType = 'image/png';
  let ground: SweepGround;
  let database: Database;
  let objects: Objects;
  let legacyFiles: Objects;
  let deps: SweepGround['deps'];
  let png: Buffer;
  const at = (laterMs: number): SweepGround['deps'] => ({ ...deps, clock: { now: () => Date.now() + laterMs } });

  beforeAll(async () => {
    png = await makeImage('png');
    ground = await openSweepGround(pair);
    ({ database, objects, legacyFiles, deps } = ground);
  });
  afterAll(() => ground.close());

  const soil = () => ({ database, originals: objects, userId: ownerId });
  const put = (key: string, bytes: Uint8Array = png) => objects.put(key, bytes, { contentType });
  const newKey = (mime = 'image/png', assetId: string = randomUUID()) =>
    storageKeyOf({ ownerId, scopeKind: 'thread', scopeId: 's', assetId, mime });
  const idOf = (key: string) => /([0-9a-f-]{36})\.[^/]*$/.exec(key)?.[1] ?? '';
  const isThere = async (key: string) => (await objects.head(key)) !== undefined;
  const rowOf = (assetId: string) =>
    database.queries<MediaTables>().selectFrom('assets').selectAll().where('asset_id', '=', assetId).executeTakeFirst();
  const change = (assetId: string, values: object) =>
    database.queries<MediaTables>().updateTable('assets').set(values).where('asset_id', '=', assetId).execute();
  const one = async (options: Parameters<typeof plant>[2] = {}): Promise<Planted> => {
    const [planted] = await plant(soil(), 1, options);
    if (planted === undefined) throw new Error('nothing was planted');
    return planted;
  };
  const yesterday = () => new Date(Date.now() - 30 * hourMs);
  const begin = (assetId: string, status: 'pending' | 'processing' | 'failed' | 'completed') =>
    insertRun(database.queries<MediaTables>(), {
      ...{ taskId: randomUUID(), runId: randomUUID(), assetId, ownerId, status },
      ...{ mediaType: 'video', metadata: {}, storageKey: `u/${ownerId}/thread/1/${assetId}.mp4` },
    });

  /** What is found of what was planted: kinds, by a dry run, then by one that removes; and what a repeat finds. */
  async function sweepOf(keys: readonly string[], sweeping = deps) {
    const own = (found: Awaited<ReturnType<typeof sweepAll>>) =>
      found.filter(({ key }) => keys.includes(key)).map(({ what, fate }) => `${fate} ${what}`);
    const before = await standing(keys);
    const dry = own(await sweepAll(sweeping, { apply: false }));
    expect(await standing(keys)).toEqual(before);
    const wet = own(await sweepAll(sweeping));
    const again = own(await sweepAll(sweeping));
    return { dry, wet, again, left: await standing(keys) };
  }

  async function standing(keys: readonly string[]) {
    const there = [];
    for (const key of keys) {
      const row = await rowOf(idOf(key));
      const isObject = (await isThere(key)) || (await legacyFiles.head(key)) !== undefined;
      there.push(`${isObject ? 'object' : '-'} ${row?.storage_key === key ? (row.ready_at ? 'ready' : 'draft') : '-'}`);
    }
    return there;
  }

  const removed = (what: string): Outcome => ({
    dry: [`found ${what}`],
    wet: [`removed ${what}`],
    again: [],
    left: ['- -'],
  });
  const spared = (left: string): Outcome => ({ dry: [], wet: [], again: [], left: [left] });
  const upload = 'unregistered_upload';
  const unfinished = 'unfinished_registration';

  it('a copy of a blocked object without an incident goes after a day', async () => {
    const key = evidenceKeyOf(randomUUID(), '0'.repeat(64), false);
    await put(key);
    const found = async (sweeping: SweepGround['deps']) =>
      (await sweepAll(sweeping)).filter((finding) => finding.key === key).map(({ what, fate }) => `${fate} ${what}`);
    expect([await found(at(0)), await isThere(key)]).toEqual([[], true]);
    expect([await found(at(25 * hourMs)), await isThere(key)]).toEqual([['removed evidence_without_incident'], false]);
  });

  it.each<[string, () => Promise<string>, Outcome]>([
    [
      'an upload that nobody registered',
      async () => {
        const key = newKey();
        await put(key);
        return key;
      },
      removed(upload),
    ],
    ['an asset', async () => (await one()).storageKey, spared('object ready')],
    ['a registration that was begun', async () => (await one({ isReady: false })).storageKey, removed(unfinished)],
    [
      'one whose object is gone',
      async () => {
        const { storageKey } = await one({ isReady: false });
        await objects.remove([storageKey]);
        return storageKey;
      },
      removed(unfinished),
    ],
    [
      'a refusal that was begun',
      async () => {
        const { assetId, storageKey } = await one({ isReady: false });
        await change(assetId, { refusal: 'undecodable_image' });
        return storageKey;
      },
      removed(unfinished),
    ],
    [
      'a copy that was begun',
      async () => {
        const { assetId, storageKey } = await one({ isReady: false });
        await change(assetId, { etag: '' });
        return storageKey;
      },
      removed(unfinished),
    ],
    [
      'a watermark file without its source',
      async () => {
        const key = `${newKey()}.wm.jpg`;
        await put(key);
        return key;
      },
      removed('watermark_without_source'),
    ],
    [
      'a rendition without its source',
      async () => {
        const key = renditionKeyOf(newKey('video/mp4'));
        await put(key);
        return key;
      },
      removed('rendition_without_source'),
    ],
    [
      'an asset whose object is gone',
      async () => {
        const { storageKey } = await one();
        await objects.remove([storageKey]);
        return storageKey;
      },
      removed('asset_without_object'),
    ],
    [
      'an object under another key than its id’s row',
      async () => {
        const { assetId } = await one();
        const key = newKey('image/jpeg', assetId);
        await put(key);
        return key;
      },
      removed(upload),
    ],
    [
      'an object under a key that is no upload’s',
      async () => {
        const key = `u/${randomUUID()}.txt`;
        await put(key);
        return key;
      },
      removed(upload),
    ],
    ...(['users/', 'u2/', 'v/', 'u.'] as const).map((start): [string, () => Promise<string>, Outcome] => [
      `an object under ${start}`,
      async () => {
        const key = `${start}${newKey().slice(2)}`;
        await put(key);
        return key;
      },
      none,
    ]),
    ...(['pending', 'processing'] as const).map((status): [string, () => Promise<string>, Outcome] => [
      `the upload of a task that is ${status}`,
      async () => {
        const key = newKey('video/mp4');
        await put(key);
        await begin(idOf(key), status);
        return key;
      },
      none,
    ]),
    [
      'the poster that a task is about to register',
      async () => {
        const video = randomUUID();
        await begin(video, 'processing');
        const key = newKey('image/jpeg', posterIdOf(video));
        await put(key);
        return key;
      },
      spared('object -'),
    ],
    [
      'a registration that a task has begun',
      async () => {
        const { assetId, storageKey } = await one({ isReady: false, mime: 'video/mp4' });
        await begin(assetId, 'processing');
        return storageKey;
      },
      spared('object draft'),
    ],
    [
      'the upload of a task that failed',
      async () => {
        const key = newKey('video/mp4');
        await put(key);
        await begin(idOf(key), 'failed');
        return key;
      },
      removed(upload),
    ],
    [
      'an import that was begun: the file is others’',
      async () => {
        const { assetId } = await one({ isReady: false });
        const path = `${ownerId}/${assetId}.png`;
        await legacyFiles.put(path, png, { contentType });
        await change(assetId, { backend: 'legacy', bucket: legacyFiles.bucket, storage_key: path });
        return path;
      },
      { ...removed(unfinished), left: ['object -'] },
    ],
    [
      'an imported file that others took away',
      async () => {
        await legacyFiles.put(`${ownerId}/another.png`, png, { contentType });
        const { assetId } = await one();
        const path = `${ownerId}/${assetId}.png`;
        await change(assetId, { backend: 'legacy', bucket: legacyFiles.bucket, storage_key: path });
        return path;
      },
      removed('asset_without_object'),
    ],
    [
      'an imported file in a bucket that reads as empty',
      async () => {
        const { assetId } = await one();
        const path = `${ownerId}/${assetId}.png`;
        await change(assetId, { backend: 'legacy', bucket: `none-${randomUUID()}`, storage_key: path });
        return path;
      },
      left('asset_without_object', '- ready'),
    ],
    [
      'an asset in a bucket that is not ours',
      async () => (await one({ bucket: 'of-others' })).storageKey,
      left('asset_without_object', 'object ready'),
    ],
    [
      'a registration in a bucket that is not ours',
      async () => (await one({ bucket: 'of-others', isReady: false })).storageKey,
      left(unfinished, 'object draft'),
    ],
  ])('%s', async (_name, prepare, outcome) => {
    expect(await sweepOf([await prepare()])).toEqual(outcome);
  });

  it('spares rows and variants if the bucket is empty or another one, unless told otherwise', async () => {
    const own = await openSweepGround(pair);
    const lost = await plant({ database: own.database, originals: own.objects, userId: ownerId }, 6);
    const keys = lost.map(({ storageKey }) => storageKey);
    await own.objects.remove(keys);
    const fates = async (options: object) =>
      (await sweepAll(own.deps, options)).filter(({ key }) => keys.includes(key)).map(({ fate }) => fate);
    const all = (fate: string) => keys.map(() => fate);
    expect(await fates({})).toEqual(all('left'));
    await own.objects.put('u/of-another-installation', png, { contentType });
    expect(await fates({ apply: false })).toEqual(all('left'));
    expect(await fates({})).toEqual(all('left'));
    expect(await fates({ acceptLostBuckets: true })).toEqual(all('removed'));
    await own.close();
  });

  it('preserves an upload for MEDIA_UPLOAD_TTL_SECS', async () => {
    const key = newKey();
    await put(key);
    expect(await sweepOf([key], at(0.9 * hourMs))).toEqual(spared('object -'));
    expect(await sweepOf([key], at(1.1 * hourMs))).toEqual(removed(upload));
  });

  describe('preserves objects younger than 24 hours', () => {
    it('a watermark file, a registration', async () => {
      const keys = [`${newKey()}.wm.jpg`, (await one({ isReady: false })).storageKey];
      for (const key of keys.slice(0, 1)) await put(key);
      const { wet, left } = await sweepOf(keys, at(23 * hourMs));
      expect([wet, left]).toEqual([[], ['object -', 'object draft']]);
      expect((await sweepOf(keys)).left).toEqual(['- -', '- -']);
    });

    it('an object that was uploaded again, despite an old registration', async () => {
      const { assetId, storageKey } = await one({ isReady: false });
      await change(assetId, { created_at: yesterday() });
      expect(await sweepOf([storageKey], at(0))).toEqual(spared('object draft'));
    });
  });

  it('removes a resumable upload without data for two days, and its offset is 0 again', async () => {
    const upload = { id: 'ab'.repeat(16), key: newKey('video/mp4'), size: 20_000_000, contentType: 'video/mp4' };
    await objects.resumable.append(upload, 0, Readable.from([Buffer.alloc(9_000_000)]));
    const found = async (sweeping: SweepGround['deps'], options?: { readonly apply: boolean }) =>
      (await sweepAll(sweeping, options)).filter(({ what }) => what === 'unfinished_upload').map(({ fate }) => fate);
    expect(await found(at(47 * hourMs))).toEqual([]);
    expect(new Set(await found(at(49 * hourMs), { apply: false }))).toEqual(new Set(['found']));
    expect(await objects.resumable.offset(upload)).toBe(9_000_000);
    expect(new Set(await found(at(49 * hourMs)))).toEqual(new Set(['removed']));
    expect(await objects.resumable.offset(upload)).toBe(0);
  });

  it('removes watermark files and variants with an upload, and preserves those of an asset', async () => {
    const orphan = newKey();
    const asset = await one();
    for (const key of [orphan, asset.storageKey]) {
      await put(key);
      await put(`${key}.wm.jpg`);
      await deps.variants.ensure(objectSource(objects, key), [{ transform }]);
    }
    const variantKeys = async () => {
      const keys = [];
      for await (const { key } of ground.publicObjects.list('img/')) keys.push(key);
      return keys.length;
    };
    const before = await variantKeys();
    await sweepAll(deps);
    expect(await variantKeys()).toBe(before - 1);
    expect([await isThere(orphan), await isThere(`${orphan}.wm.jpg`)]).toEqual([false, false]);
    expect([await isThere(asset.storageKey), await isThere(`${asset.storageKey}.wm.jpg`)]).toEqual([true, true]);

    await objects.remove([asset.storageKey]);
    await sweepAll(deps);
    expect(await variantKeys()).toBe(before - 2);
    expect(await isThere(`${asset.storageKey}.wm.jpg`)).toBe(false);
    expect(await rowOf(asset.assetId)).toBeUndefined();
  });

  it('without an operator spares assets, keys that no upload has, and older objects', async () => {
    const lost = await one();
    await objects.remove([lost.storageKey]);
    const keys = [newKey(), `u/${randomUUID()}.txt`];
    for (const key of keys) await put(key);
    const later = new Date(Date.now() + hourMs);
    const earlier = new Date(Date.now() - hourMs);
    await sweepAll(deps, { aloneSince: later });
    expect(await standing(keys)).toEqual(['object -', 'object -']);
    const found = await sweepAll(deps, { aloneSince: earlier });
    expect(found.filter(({ key }) => keys.includes(key))).toMatchObject([{ key: keys[0], fate: 'removed' }]);
    expect(await standing(keys)).toEqual(['- -', 'object -']);
    expect(await rowOf(lost.assetId)).toBeDefined();
  });

  it('drops a lost asset with its cached responses', async () => {
    const { assetId, storageKey } = await one();
    await objects.remove([storageKey]);
    const keys = ['image', 'video', 'watermark', 'watermark-video'].map((kind) => `${kind}:${assetId}`);
    const lookup = await deps.signedUrls.lookUp(keys);
    await lookup.fill(new Map(keys.map((key) => [key, 'told'])), hourMs);
    expect((await deps.signedUrls.lookUp(keys)).found.size).toBe(4);
    await sweepAll(deps);
    expect((await deps.signedUrls.lookUp(keys)).found.size).toBe(0);
  });

  it.runIf(isNightly)('finds its way through many pages, and parts no watermark file from its source', async () => {
    const folder = { ownerId: randomUUID(), scopeKind: 'thread', scopeId: 's', mime: 'image/png' };
    const idAt = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    const keyAt = (number: number) => storageKeyOf({ ...folder, assetId: idAt(number) });
    const numbers = Array.from({ length: 1005 }, (_, number) => number);
    for (let start = 0; start < numbers.length; start += 64)
      await Promise.all(numbers.slice(start, start + 64).map((number) => put(keyAt(number), Buffer.from('x'))));
    const keys = numbers.map(keyAt);
    for (const key of [keys[998], keys[999], keys[1000]]) await put(`${key}.wm.jpg`);
    const [kept] = await plant(soil(), 1);
    const etag = (await objects.head(keyAt(999)))?.etag;
    await change(kept?.assetId ?? '', { asset_id: idAt(999), storage_key: keys[999], owner_id: folder.ownerId, etag });
    const found = (await sweepAll(deps)).filter(({ key }) => key.startsWith(`u/${folder.ownerId}/`));
    expect(found.filter(({ fate }) => fate !== 'removed')).toEqual([]);
    const left = [];
    for await (const { key } of objects.list(`u/${folder.ownerId}/`)) left.push(key);
    expect(left).toEqual([keys[999], `${keys[999]}.wm.jpg`]);
  });
});

interface Outcome {
  readonly dry: readonly string[];
  readonly wet: readonly string[];
  readonly again: readonly string[];
  /** Of the object, and of the row for it. */
  readonly left: readonly string[];
}

const none: Outcome = { dry: [], wet: [], again: [], left: ['object -'] };

function left(what: string, row: string): Outcome {
  const told = [`left ${what}`];
  return { dry: told, wet: told, again: told, left: [row] };
}
