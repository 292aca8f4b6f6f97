import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '#platform/clock.ts';
import { openFilesystem } from '#platform/objects/files/filesystem.ts';
import type { Objects, WriteOptions } from '#platform/objects/objects.ts';
import { photo, pipe, scene } from '../../../test/image/images.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import { openTestBucket, skipWithoutS3 } from '../../../test/platform/objects/s3.fixture.ts';
import { BudgetFault, EngineBusy, type EngineLimits, EngineTimeout, ImageFault } from './engine.ts';
import { objectSource } from './sources.ts';
import { preview, thumbnail, toTransform, type VariantSpec } from './specs.ts';
import { createVariantMaker, StoreFault, type VariantMaker } from './variants.ts';
import { createEngine } from './working.ts';

const limits: EngineLimits = {
  maxSourcePixels: 50_000_000,
  processTimeoutMs: 30_000,
  concurrency: 2,
  permitWaitMs: 30_000,
};

let image: Buffer;
let originals: Objects;
let publicObjects: Objects;
let calls: string[];
let maker: VariantMaker;

interface Buckets {
  readonly originals: Objects;
  readonly publicObjects: Objects;
  close(): Promise<void>;
}

async function openFiles(): Promise<Buckets> {
  const folder = await mkdtemp(join(tmpdir(), 'variants-'));
  const open = (bucket: string) =>
    openFilesystem({
      bucket,
      root: join(folder, bucket),
      stagingFolder: join(folder, '.incoming'),
      clock: systemClock,
    });
  return {
    originals: open('objects'),
    publicObjects: open('public'),
    close: () => rm(folder, { recursive: true }),
  };
}

async function openS3(): Promise<Buckets> {
  const [one, other] = await Promise.all([openTestBucket(), openTestBucket()]);
  return {
    originals: one.objects,
    publicObjects: other.objects,
    close: async () => void (await Promise.all([one.close(), other.close()])),
  };
}

const drivers = [
  { driver: 'files', open: openFiles, missing: false },
  { driver: 'S3', open: openS3, missing: skipWithoutS3 },
];
// The suites of the object store cover its engines, and buckets of files open in less time.
for (const { driver, open, missing } of everyNth(drivers, 2)) {
  describe.skipIf(missing)(`over ${driver}`, () => {
    let buckets: Buckets;

    beforeAll(async () => {
      image = await pipe(scene()).png().toBuffer();
    });
    beforeEach(async () => {
      buckets = await open();
      calls = [];
      originals = counted(buckets.originals, 'objects');
      publicObjects = counted(buckets.publicObjects, 'public');
      maker = make();
      await originals.put('u/a.png', image, { contentType: 'image/png' });
      calls.length = 0;
    });
    afterEach(() => buckets.close());

    describe('ensure', () => {
      it('makes missing variants, and returns each with its request', async () => {
        const variants = await maker.ensure(source(), [
          { name: 'small', transform: toTransform({ width: 20 }) },
          { name: 'jpeg', transform: toTransform({ width: 30, format: 'jpg' }) },
        ]);
        expect(variants.map(({ name }) => name)).toEqual(['small', 'jpeg']);
        expect(variants.map(({ key }) => key).sort()).toEqual(await stored());
        for (const { key, size, overBudget } of variants) {
          expect((await publicObjects.head(key))?.size).toBe(size);
          expect(overBudget).toBe(false);
        }
      });

      it('reads the source once, and checks once for each variant', async () => {
        await maker.ensure(source(), requestsFor({ width: 20 }, { width: 30 }, { width: 40 }));
        expect(count('get objects')).toBe(1);
        expect(count('head public')).toBe(3);
        expect(count('put public')).toBe(3);
      });

      it('only checks when all exist: no read, no permit', async () => {
        const [first] = await maker.ensure(source(), requestsFor({ width: 20 }));
        calls.length = 0;
        const withoutPermits = make({ limits: { concurrency: 0, permitWaitMs: 0 } });
        expect(await withoutPermits.ensure(source(), requestsFor({ width: 20 }))).toEqual([first]);
        expect(calls).toEqual(['head public']);
      });

      it('renders only missing variants', async () => {
        await maker.ensure(source(), requestsFor({ width: 20 }));
        calls.length = 0;
        await maker.ensure(source(), requestsFor({ width: 20 }, { width: 30 }));
        expect([count('get objects'), count('put public')]).toEqual([1, 1]);
      });

      it('stores public objects that can be cached forever', async () => {
        const options: WriteOptions[] = [];
        const put: Objects['put'] = (key, body, given) => {
          options.push(given);
          return publicObjects.put(key, body, given);
        };
        await make({ store: { put } }).ensure(source(), requestsFor({}, { format: 'jpeg' }, { format: 'png' }));
        expect(options.map(({ contentType }) => contentType).sort()).toEqual(['image/jpeg', 'image/png', 'image/webp']);
        for (const { cacheControl } of options) expect(cacheControl).toBe('public, max-age=31536000, immutable');
      });

      it('reports variants over their budget, on each request', async () => {
        const specs = requestsFor(
          { maxBytes: 1 },
          { maxBytes: 1_000_000 },
          { format: 'png', maxBytes: 1 },
          { format: 'png' },
        );
        for (let time = 0; time < 3; time++) {
          const variants = await maker.ensure(source(), specs);
          expect(variants.map(({ overBudget }) => overBudget)).toEqual([true, false, true, false]);
        }
        expect(count('put public')).toBe(3);
      });
    });

    describe('concurrent identical requests', () => {
      it.each([16])('%i of them read and write once', async (requests) => {
        const answers = await Promise.all(
          Array.from({ length: requests }, () => maker.ensure(source(), requestsFor({ width: 20 }))),
        );
        expect(new Set(answers.map(([variant]) => variant?.key)).size).toBe(1);
        expect([count('head public'), count('get objects'), count('put public')]).toEqual([1, 1, 1]);
      });

      it('also within one request, under several names', async () => {
        const variants = await maker.ensure(
          source(),
          requestsFor({ format: 'jpg' }, { format: 'jpeg' }, { format: 'jpeg', quality: 80 }),
        );
        expect(new Set(variants.map(({ key }) => key)).size).toBe(1);
        expect(count('put public')).toBe(1);
      });

      it('that overlap make each variant once', async () => {
        await Promise.all([
          maker.ensure(source(), requestsFor({ width: 20 }, { width: 30 })),
          maker.ensure(source(), requestsFor({ width: 30 }, { width: 40 })),
        ]);
        expect(count('put public')).toBe(3);
      });

      it('share a failure, which is not remembered', async () => {
        await originals.remove(['u/a.png']);
        const ensure = () => maker.ensure(source(), requestsFor({ width: 20 }));
        const failed = await Promise.allSettled([ensure(), ensure(), ensure()]);
        expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
        expect(count('get objects')).toBe(1);
        await originals.put('u/a.png', image, { contentType: 'image/png' });
        expect(await ensure()).toHaveLength(1);
      });
    });

    describe('serve', () => {
      const serve = (spec: VariantSpec, by = maker) => by.serve(source(), toTransform(spec));
      const widths = (count: number, from = 1) =>
        Array.from({ length: count }, (_, index) => ({ width: from + index }));

      it('stores new variants, and returns stored ones', async () => {
        const made = await serve({ width: 20 });
        expect(await stored()).toEqual([made.key]);
        calls.length = 0;
        expect(await serve({ width: 20 })).toEqual(made);
        expect(calls).toEqual(['head public']);
      });

      it('keeps the 64 that were used last, the thumbnail, the preview, and what was ensured', async () => {
        const own = await Promise.all([thumbnail, preview].map((spec) => serve(spec)));
        const ensured = await maker.ensure(source(), requestsFor(...widths(3)));
        const served = [];
        for (const spec of widths(64, 101)) served.push(await serve(spec));
        expect(await stored()).toHaveLength(64 + 2 + 3);
        // Used again, so the next one is the oldest.
        await serve({ width: 101 });
        const another = await serve({ width: 300 });
        const keys = await stored();
        expect(keys).toHaveLength(64 + 2 + 3);
        const kept = [...own, ...ensured, another, ...served.filter((_one, index) => index !== 1)];
        expect(keys.toSorted()).toEqual(kept.map(({ key }) => key).toSorted());
        // It is made again, and another one goes.
        expect((await serve({ width: 102 })).key).toBe(served[1]?.key);
        expect(await stored()).not.toContain(served[2]?.key);
        await maker.forgetAll([source()]);
        expect(await stored()).toEqual([]);
      });

      it('returns what was ensured without making it again', async () => {
        const [ensured] = await maker.ensure(source(), requestsFor({ width: 20 }));
        calls.length = 0;
        expect((await serve({ width: 20 })).key).toBe(ensured?.key);
        expect(calls).toEqual(['head public', 'head public']);
      });

      it('stays within the limit after concurrent requests', async () => {
        await Promise.all(widths(70, 101).map((spec) => serve(spec)));
        await serve({ width: 200 });
        expect(await stored()).toHaveLength(64);
      });

      it('generates a missing variant once for concurrent requests', async () => {
        calls.length = 0;
        const served = await Promise.all(Array.from({ length: 8 }, () => serve({ width: 200 })));
        expect(new Set(served.map(({ key }) => key)).size).toBe(1);
        expect(count('get objects')).toBe(1);
      });

      it.each(['jpeg', 'png', 'webp'] as const)('never exceeds a budget (%s)', async (format) => {
        for (const maxBytes of [4000, 9000]) {
          const { size } = await serve({ format, maxBytes });
          expect(size).toBeLessThanOrEqual(maxBytes);
        }
        await expect(serve({ format, maxBytes: 20 })).rejects.toBeInstanceOf(BudgetFault);
      });

      it('returns nothing if its source is deleted in the meantime', async () => {
        await maker.ensure(source(), requestsFor(...widths(32)));
        await maker.ensure(source(), requestsFor(...widths(32, 33)));
        const get: Objects['get'] = async (key, options) => {
          const body = await originals.get(key, options);
          const bytes = Buffer.concat((await body?.stream.toArray()) ?? []);
          await originals.remove([key]);
          return body && { ...body, stream: Readable.from([bytes]) };
        };
        await expect(maker.serve(source({ get }), toTransform({ width: 200 }))).rejects.toMatchObject({
          reason: 'absent',
        });
      });

      it('fails if the stored variants cannot be counted', async () => {
        const list: Objects['list'] = () => {
          throw new Error('no');
        };
        await expect(serve({ width: 20 }, make({ store: { list } }))).rejects.toBeInstanceOf(StoreFault);
      });
    });

    describe('a transform that takes too long', () => {
      const heavy = toTransform({ blur: 100, width: 1400 });
      beforeEach(async () => {
        await originals.put('u/b.jpg', await pipe(photo(1500, 1000)).jpeg().toBuffer(), { contentType: 'image/jpeg' });
      });
      const of = () => source({}, 'u/b.jpg');

      it('is not tried again for ten minutes', async () => {
        const clock = { nowMs: 0, now: () => clock.nowMs };
        const hurried = make({ limits: { processTimeoutMs: 1 }, clock });
        await expect(hurried.serve(of(), heavy)).rejects.toBeInstanceOf(EngineTimeout);
        calls.length = 0;
        clock.nowMs += 10 * 60_000 - 1;
        await expect(hurried.serve(of(), heavy)).rejects.toBeInstanceOf(EngineTimeout);
        await expect(hurried.ensure(of(), [{ transform: heavy }])).rejects.toBeInstanceOf(EngineTimeout);
        expect(calls).toEqual(['head public', 'head public', 'head public']);
        clock.nowMs += 1;
        await expect(hurried.serve(of(), heavy)).rejects.toBeInstanceOf(EngineTimeout);
        expect(count('get objects')).toBe(1);
      });

      it('is served when another process has stored it', async () => {
        const hurried = make({ limits: { processTimeoutMs: 1 } });
        await expect(hurried.serve(of(), heavy)).rejects.toBeInstanceOf(EngineTimeout);
        const made = await maker.serve(of(), heavy);
        expect(await hurried.serve(of(), heavy)).toEqual(made);
      });

      it('does not affect other variants of its source', async () => {
        const hurried = make({ limits: { processTimeoutMs: 500 } });
        const many = Array.from({ length: 31 }, (_, index) => ({ blur: 60 + index }));
        await expect(hurried.ensure(of(), requestsFor({ width: 16 }, ...many))).rejects.toBeInstanceOf(EngineTimeout);
        calls.length = 0;
        // It had less than the whole time, so it is retried.
        await hurried.ensure(of(), requestsFor({ blur: 90, width: 20 }));
        expect(count('get objects')).toBe(1);
      });
    });

    describe('a source that', () => {
      it('is absent', async () => {
        await expect(maker.ensure(source({}, 'u/none.png'), requestsFor({}))).rejects.toMatchObject({
          name: 'SourceFault',
          reason: 'absent',
        });
      });

      const reading = (stream: () => Readable): Objects['get'] => {
        return async (key) => {
          const body = await originals.get(key);
          body?.stream.destroy();
          return body && { ...body, stream: stream() };
        };
      };
      async function* breakingOff() {
        yield image.subarray(0, 100);
        throw new Error('gone');
      }
      it.each([
        ['cannot be read', async () => Promise.reject(new Error('no'))],
        ['ends early', reading(() => Readable.from([image.subarray(0, 100)]))],
        ['breaks off', reading(() => Readable.from(breakingOff()))],
        ['has more than it says', reading(() => Readable.from([image, image]))],
      ])('%s', async (_name, get: Objects['get']) => {
        await expect(maker.ensure(source({ get }), requestsFor({}))).rejects.toMatchObject({
          name: 'SourceFault',
          reason: 'failed',
        });
        expect(await stored()).toEqual([]);
      });

      it('is no image', async () => {
        await originals.put('u/a.txt', Buffer.from('text'), { contentType: 'image/png' });
        await expect(maker.ensure(source({}, 'u/a.txt'), requestsFor({}))).rejects.toBeInstanceOf(ImageFault);
      });

      it.each([
        ['has 64 MiB: is looked at', 64 * 1024 * 1024, 'undecodable'],
        ['has a byte more: is not read', 64 * 1024 * 1024 + 1, 'too_large'],
      ])('%s', async (_name, size, reason) => {
        await originals.put('u/large.png', Buffer.alloc(size), { contentType: 'image/png' });
        await expect(maker.ensure(source({}, 'u/large.png'), requestsFor({}))).rejects.toMatchObject({ reason });
      });
    });

    describe('a source that changes while its variants are made', () => {
      /** Changes the source once it has been read. */
      const meanwhile = (deed: () => Promise<unknown>): Partial<Objects> => ({
        get: async (key, options) => {
          const body = await originals.get(key, options);
          if (body === undefined) return undefined;
          const bytes = Buffer.concat(await body.stream.toArray());
          await deed();
          return { ...body, stream: Readable.from([bytes]) };
        },
      });

      it('deleted: removes its variants, and counts it as absent', async () => {
        const vanishing = source(meanwhile(() => originals.remove(['u/a.png'])));
        await expect(maker.ensure(vanishing, requestsFor({ width: 20 }, { width: 30 }))).rejects.toMatchObject({
          name: 'SourceFault',
          reason: 'absent',
        });
        expect(count('put public')).toBe(2);
        expect(await stored()).toEqual([]);
      });

      it('replaced: removes the variants of the old bytes', async () => {
        const other = await pipe(photo(50, 50)).png().toBuffer();
        const changing = source(meanwhile(() => originals.put('u/a.png', other, { contentType: 'image/png' })));
        await expect(maker.ensure(changing, requestsFor({ width: 20 }))).rejects.toMatchObject({ name: 'SourceFault' });
        expect(await stored()).toEqual([]);
      });

      it('cannot be checked again: its variants are removed', async () => {
        const head = async () => Promise.reject(new Error('no'));
        await expect(maker.ensure(source({ head }), requestsFor({ width: 20 }))).rejects.toMatchObject({
          name: 'SourceFault',
          reason: 'failed',
        });
        expect(await stored()).toEqual([]);
      });
    });

    describe('variants made before a failure are stored', () => {
      it('when the time ran out', async () => {
        await originals.put('u/b.jpg', await pipe(photo(1500, 1000)).jpeg().toBuffer(), { contentType: 'image/jpeg' });
        const hurried = make({ limits: { processTimeoutMs: 500 } });
        const heavy = Array.from({ length: 31 }, (_, index) => ({ blur: 60 + index }));
        const specs = requestsFor({ width: 16 }, ...heavy);
        await expect(hurried.ensure(source({}, 'u/b.jpg'), specs)).rejects.toBeInstanceOf(EngineTimeout);
        const kept = (await stored()).length;
        expect(kept).toBeGreaterThan(0);
        expect(kept).toBeLessThan(specs.length);
        calls.length = 0;
        await hurried.ensure(source({}, 'u/b.jpg'), requestsFor({ width: 16 }));
        expect(calls).toEqual(['head public']);
      });

      it('when one could not be written, without rendering the others again', async () => {
        let writes = 0;
        const put: Objects['put'] = (...args) => {
          writes += 1;
          return writes === 1 ? Promise.reject(new Error('disk full')) : publicObjects.put(...args);
        };
        const failing = make({ store: { put } });
        await expect(failing.ensure(source(), requestsFor({ width: 20 }, { width: 30 }))).rejects.toBeInstanceOf(
          StoreFault,
        );
        expect(await stored()).toHaveLength(1);
        expect(await failing.ensure(source(), requestsFor({ width: 20 }, { width: 30 }))).toHaveLength(2);
        expect(writes).toBe(3);
      });
    });

    describe('a store that does not answer', () => {
      const no = () => Promise.reject(new Error('no'));
      it.each([
        ['head', { head: no }],
        ['put', { put: no }],
      ])('%s', async (_name, store) => {
        await expect(make({ store }).ensure(source(), requestsFor({}))).rejects.toBeInstanceOf(StoreFault);
      });

      it.each([
        [
          'list',
          {
            list: () =>
              Readable.from(
                (async function* () {
                  yield await no();
                })(),
              ),
          },
        ],
        ['remove', { remove: no }],
        [
          'remove in part',
          {
            remove: async (keys: readonly string[]) => ({
              removed: [],
              failed: keys.map((key) => ({ key, reason: 'no' })),
            }),
          },
        ],
      ])('forgetAll: %s', async (_name, store) => {
        await maker.ensure(source(), requestsFor({}));
        await expect(make({ store }).forgetAll([source()])).rejects.toBeInstanceOf(StoreFault);
      });
    });

    describe('forget', () => {
      it('removes every variant of the source and of no other, and counts them', async () => {
        await originals.put('u/b.png', image, { contentType: 'image/png' });
        await maker.ensure(source(), requestsFor({ width: 20 }, { width: 30, format: 'jpeg' }, { format: 'png' }));
        const [other] = await maker.ensure(source({}, 'u/b.png'), requestsFor({ width: 20 }));
        expect(await maker.forgetAll([source()])).toBe(3);
        expect(await stored()).toEqual([other?.key]);
        expect(await maker.forgetAll([source()])).toBe(0);
      });

      it('deletes the variants of many sources in one call', async () => {
        const keys = Array.from({ length: 20 }, (_, index) => `u/many/${index}.png`);
        for (const key of keys) {
          await originals.put(key, image, { contentType: 'image/png' });
          await maker.ensure(source({}, key), requestsFor({ width: 20 }));
        }
        const [other] = await maker.ensure(source(), requestsFor({ width: 20 }));
        expect(await maker.forgetAll(keys.map((key) => source({}, key)))).toBe(20);
        expect(await stored()).toEqual([other?.key]);
        expect(await maker.forgetAll([])).toBe(0);
      });

      it('needs no source any more', async () => {
        await maker.ensure(source(), requestsFor({}));
        await originals.remove(['u/a.png']);
        expect(await maker.forgetAll([source()])).toBe(1);
      });

      it('is not for ever', async () => {
        const [before] = await maker.ensure(source(), requestsFor({}));
        await maker.forgetAll([source()]);
        expect(await maker.ensure(source(), requestsFor({}))).toEqual([before]);
        expect(await stored()).toEqual([before?.key]);
      });
    });

    it('holds a bounded number of sources in memory, and rejects requests that wait too long', async () => {
      const { promise: opened, resolve: open } = Promise.withResolvers<void>();
      const { promise: full, resolve: fill } = Promise.withResolvers<void>();
      let reading = 0;
      const get: Objects['get'] = async (key, options) => {
        reading += 1;
        if (reading === 4) fill();
        await opened;
        return originals.get(key, options);
      };
      const narrow = make({ limits: { concurrency: 1, permitWaitMs: 20 } });
      const slow = Promise.allSettled(
        [1, 2, 3, 4].map((width) => narrow.ensure(source({ get }), requestsFor({ width }))),
      );
      await full;
      await expect(narrow.ensure(source(), requestsFor({ width: 5 }))).rejects.toBeInstanceOf(EngineBusy);
      open();
      await slow;
      expect(await narrow.ensure(source(), requestsFor({ width: 5 }))).toHaveLength(1);
    });
  });
}

/** The real driver, which records every call. */
function counted(objects: Objects, name: string): Objects {
  const noted = <Args extends unknown[], Result>(call: string, work: (...args: Args) => Result) => {
    return (...args: Args) => {
      calls.push(`${call} ${name}`);
      return work(...args);
    };
  };
  return {
    ...objects,
    head: noted('head', objects.head),
    get: noted('get', objects.get),
    put: noted('put', objects.put),
    remove: noted('remove', objects.remove),
    list: noted('list', objects.list),
  };
}

function make(changes: { store?: Partial<Objects>; limits?: Partial<EngineLimits>; clock?: Clock } = {}): VariantMaker {
  const changed = { ...limits, ...changes.limits };
  return createVariantMaker({
    engine: createEngine(changed),
    keySecret: 'secret',
    publicObjects: { ...publicObjects, ...changes.store },
    limits: changed,
    ...(changes.clock && { clock: changes.clock }),
  });
}

const source = (changes: Partial<Objects> = {}, key = 'u/a.png') => objectSource({ ...originals, ...changes }, key);
const requestsFor = (...specs: VariantSpec[]) => specs.map((spec) => ({ transform: toTransform(spec) }));
const count = (call: string) => calls.filter((one) => one === call).length;

async function stored(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of publicObjects.list('')) keys.push(key);
  return keys;
}
