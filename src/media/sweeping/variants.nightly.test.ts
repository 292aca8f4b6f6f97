import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVariantNames } from '#image/engine/keys.ts';
import { objectSource } from '#image/engine/sources.ts';
import { toTransform, type VariantSpec } from '#image/engine/specs.ts';
import { urlSource } from '#image/fetching.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import { embedded, onEveryPair } from '../../../test/media/rig.fixture.ts';
import { hourMs, openSweepGround, type SweepGround, sweepAll } from '../../../test/media/sweeping.fixture.ts';
import type { MediaContext } from '../context.ts';
import type { MediaTables } from '../tables.ts';

const what = 'variant_without_source';
/** More than any sweep here has. */
const manyMoments = 60;
/** Alone: what else a sweep does has tests of its own. */
const from = 'variants:';

onEveryPair(
  'a sweep of variants',
  (pair) => {
    let ground: SweepGround;
    let png: Buffer;
    beforeAll(async () => {
      png = await makeImage('png');
      ground = await openSweepGround(pair);
      // A bucket is known by its rows; it is not empty, and neither is that of the originals.
      const [{ assetId = '' } = {}] = await plant({ ...ground, originals: ground.objects }, 1);
      const place = { backend: 'legacy', bucket: ground.legacyFiles.bucket, storage_key: 'kept/a.png' } as const;
      await ground.database
        .queries<MediaTables>()
        .updateTable('assets')
        .set(place)
        .where('asset_id', '=', assetId)
        .execute();
      await put('kept/a.png', ground.legacyFiles);
      await put('v/always.png');
    });
    afterAll(() => ground.close());

    const put = (key: string, objects: Objects = ground.objects) => objects.put(key, png, { contentType: 'image/png' });
    /** The key of a variant that is there, of a source that is there. */
    async function made(objects: Objects, source: string, spec: VariantSpec = { width: 8 }): Promise<string> {
      const asked = { transform: toTransform(spec) };
      const [variant] = await ground.deps.variants.ensure(objectSource(objects, source), [asked]);
      return String(variant?.key);
    }
    /** One whose source was taken away by others. */
    async function stray(objects: Objects = ground.objects, folder = `v/${randomUUID()}`): Promise<string> {
      const source = `${folder}/${randomUUID()}.png`;
      await put(source, objects);
      const key = await made(objects, source);
      await objects.remove([source]);
      return key;
    }
    const isThere = async (key: string) => (await ground.publicObjects.head(key)) !== undefined;
    const findings = async (key: string, apply: boolean, deps: MediaContext = ground.deps) =>
      (await sweepAll(deps, { apply, from })).filter((finding) => finding.key === key);
    const notes = () =>
      ground.database
        .queries<{ stray_variants: { prefix: string } }>()
        .selectFrom('stray_variants')
        .select('prefix')
        .execute();

    it.each<[string, boolean, () => Promise<string>]>([
      ['whose source is gone', true, () => stray()],
      ['of a legacy file that is gone', true, () => stray(ground.legacyFiles)],
      [
        'of an asset',
        false,
        async () => {
          const [planted] = await plant({ ...ground, originals: ground.objects }, 1);
          await put(String(planted?.storageKey));
          return made(ground.objects, String(planted?.storageKey));
        },
      ],
      [
        'of an object that is no asset',
        false,
        async () => {
          await put('v/kept.png');
          return made(ground.objects, 'v/kept.png');
        },
      ],
      ['of a legacy file', false, () => made(ground.legacyFiles, 'kept/a.png')],
      [
        'of an address',
        false,
        async () => {
          const source = urlSource(async () => new Uint8Array(png), 'http://images.example/a.png');
          const [variant] = await ground.deps.variants.ensure(source, [{ transform: toTransform({}) }]);
          return String(variant?.key);
        },
      ],
      ['of a bucket that nobody names', false, () => stray({ ...filesOf(ground.objects), bucket: 'of-others' })],
      [
        'that another secret has named',
        false,
        async () => {
          const names = createVariantNames('another secret');
          const key = names.key(objectSource(ground.objects, 'v/gone.png'), toTransform({}));
          await put(key, ground.publicObjects);
          return key;
        },
      ],
      [
        'that is none, by its name',
        false,
        async () => {
          await put('img/aa/aa/readme.txt', ground.publicObjects);
          return 'img/aa/aa/readme.txt';
        },
      ],
    ])('one %s: removed: %s', async (_name, isStray, prepare) => {
      const key = await prepare();
      expect(await findings(key, false)).toEqual(
        isStray ? [{ what, fate: 'found', key, byteSize: expect.any(Number) }] : [],
      );
      expect(await isThere(key)).toBe(true);
      expect(await findings(key, true)).toMatchObject(isStray ? [{ what, fate: 'removed', key }] : []);
      expect(await isThere(key)).toBe(!isStray);
      expect(await findings(key, true)).toEqual([]);
      expect(await notes()).toEqual([]);
    });

    it('preserves variants younger than 24 hours, and others of the same source', async () => {
      const source = `v/${randomUUID()}.png`;
      await put(source);
      const old = await made(ground.objects, source);
      const young = await made(ground.objects, source, { width: 7 });
      await ground.objects.remove([source]);
      const createdAt = new Date(ground.deps.clock.now() - 23 * hourMs);
      const later = { ...ground.deps, publicObjects: listedAsCreated(ground.publicObjects, young, createdAt) };
      const all = await sweepAll(later, { from });
      expect(all.filter(({ key }) => key === old || key === young)).toEqual([]);
      expect([await isThere(old), await isThere(young)]).toEqual([true, true]);
      await ground.publicObjects.remove([young]);
      expect(await findings(old, true, later)).toMatchObject([{ fate: 'removed' }]);
    });

    it('never runs without a request', async () => {
      const key = await stray();
      await sweepAll(ground.deps, { aloneSince: new Date(0) });
      expect(await isThere(key)).toBe(true);
      expect(await findings(key, true)).toMatchObject([{ fate: 'removed' }]);
    });

    it('leaves all when the bucket of the sources reads as empty', async () => {
      const key = await stray();
      const empty: Objects = { ...filesOf(ground.objects), list: () => ground.objects.list('none/') };
      const wrong = { ...ground.deps, objects: empty };
      const why = expect.stringContaining('empty');
      for (const apply of [false, true])
        expect(await findings(key, apply, wrong)).toMatchObject([{ what, fate: 'left', why }]);
      expect(await isThere(key)).toBe(true);
      await ground.publicObjects.remove([key]);
    });

    it('fails, and removes nothing, in a process that does not have the bucket of the sources', async () => {
      const key = await stray(ground.legacyFiles);
      const elsewhere = { ...ground.deps, legacy: { bucket: () => undefined } };
      const cursor = `${from}${randomUUID()}/diff/${ground.legacyFiles.bucket}/`;
      await expect(sweepAll(elsewhere, { from: cursor })).rejects.toMatchObject({ code: 'engine_unavailable' });
      expect(await findings(key, true)).toMatchObject([{ fate: 'removed' }]);
    });

    it('can run twice at once', async () => {
      await put('v/kept.png');
      const [kept, key] = [await made(ground.objects, 'v/kept.png'), await stray()];
      const found = await Promise.all([findings(key, true), findings(key, true)]);
      expect(found.flat().length).toBeGreaterThan(0);
      expect([await isThere(key), await isThere(kept), await notes()]).toEqual([false, true, []]);
    });

    // The calls are the same on both pairs.
    if (pair.name === embedded.name)
      describe('at any moment', () => {
        /** `work` at each moment of a sweep in turn, until there are no more. */
        async function atEachMoment(work: () => Promise<void>, after: (hasWorked: boolean) => Promise<void>) {
          for (let workAt = 1; workAt < manyMoments; workAt++) {
            let hasWorked = false;
            // Everything so far is old, and what comes now is not.
            const now = Date.now() + 1;
            // The clock of the file system can be some milliseconds behind.
            do await put('v/always.png');
            while (Number((await ground.objects.head('v/always.png'))?.modifiedAt) < now);
            const clock = { now: () => now + 24 * hourMs };
            const sweeping = interrupted({ ...ground.deps, clock }, async ({ number, call }) => {
              if (hasWorked || number < workAt || call === 'before query') return;
              hasWorked = true;
              await work();
            });
            await sweepAll(sweeping, { from }).catch((error: Error) => expect(error.message).toBe('struck'));
            await after(hasWorked);
            if (!hasWorked) return;
          }
          throw new Error('a sweep has more moments than were thought of');
        }

        it('a source that appears or reappears preserves its variants', { timeout: 120_000 }, async () => {
          let kept: string[] = [];
          let back = '';
          const prepare = async () => {
            back = `v/${randomUUID()}.png`;
            await put(back);
            await made(ground.objects, back);
            await ground.objects.remove([back]);
          };
          await prepare();
          await atEachMoment(
            async () => {
              const fresh = `v/${randomUUID()}.png`;
              for (const source of [fresh, back]) await put(source);
              kept = [await made(ground.objects, fresh), await made(ground.objects, back, { width: 5 })];
            },
            async (hasWorked) => {
              if (hasWorked) for (const key of kept) expect(await isThere(key)).toBe(true);
              await prepare();
            },
          );
          await sweepAll(ground.deps, { from });
        });

        it('a failure leaves variants that a later sweep finds', { timeout: 120_000 }, async () => {
          let key = await stray();
          await atEachMoment(
            async () => {
              throw new Error('struck');
            },
            async () => {
              await sweepAll(ground.deps, { from });
              expect(await isThere(key)).toBe(false);
              key = await stray();
            },
          );
        });
      });

    // Last: what it leaves takes every sweep its time.
    it('processes several pages of variants, sources and candidates', { timeout: 60_000 }, async () => {
      await sweepAll(ground.deps, { from });
      const folder = `v/${randomUUID()}`;
      const names = Array.from({ length: 1250 }, (_, number) => `${folder}/${number}.png`);
      const keyOf = (source: string) =>
        `${ground.deps.variants.names.prefix(objectSource(ground.objects, source))}${'0'.repeat(32)}.webp`;
      const [kept, gone] = [names.slice(0, 1000), names.slice(1000)];
      const writes = [
        ...kept.map((name) => [ground.objects, name] as const),
        ...names.map((name) => [ground.publicObjects, keyOf(name)] as const),
      ];
      for (let start = 0; start < writes.length; start += 64)
        await Promise.all(
          writes
            .slice(start, start + 64)
            .map(([objects, key]) =>
              objects.put(key, Buffer.from('x'), { contentType: 'image/webp', reproducible: true }),
            ),
        );
      const found = (await sweepAll(ground.deps, { from })).map(({ key }) => key);
      expect(found.toSorted()).toEqual(gone.map(keyOf).toSorted());
    });
  },
  { quickLane: [embedded] },
);

/** The same bucket, whose listings report another time of creation for one object. */
function listedAsCreated(objects: Objects, key: string, modifiedAt: Date): Objects {
  return {
    ...filesOf(objects),
    async *list(prefix, after) {
      for await (const listed of objects.list(prefix, after))
        yield listed.key === key ? { ...listed, modifiedAt } : listed;
    },
  };
}

/** The methods of a bucket, to be changed. */
function filesOf(objects: Objects): Objects {
  const bound = (name: keyof Objects) => {
    const value: unknown = objects[name];
    return [name, typeof value === 'function' ? value.bind(objects) : value];
  };
  const names = [
    'bucket',
    'head',
    'get',
    'put',
    'copy',
    'remove',
    'list',
    'readAddress',
    'writeAddress',
    'check',
  ] as const;
  return Object.fromEntries(names.map(bound)) as unknown as Objects;
}
