import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { createPermits } from '#image/engine/permits.ts';
import { createEngine } from '#image/engine/working.ts';
import type { Database } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { makeImage, svg } from '../../../test/media/images.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { openFiles, outcomeOf, registrationDeps, uploaded } from '../../../test/media/registering.fixture.ts';
import type { RegistrationRequest } from '../api.ts';
import { findAsset } from '../assets/assetstore.ts';
import type { MediaContext } from '../context.ts';
import { mediaProblems } from '../problems.ts';
import { withInspected } from './inspection.ts';

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`a registration on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let objects: Objects;
    let deps: MediaContext;
    /** A process whose size limit is smaller than every image. */
    let stricter: MediaContext;
    let good: Buffer;
    let other: Buffer;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-registration-'));
      database = await engine.open(migrations);
      objects = openFiles(folder);
      deps = registrationDeps(database, folder);
      stricter = { ...deps, limits: { ...deps.limits, maxImageBytes: 1, maxVideoBytes: 1 } };
      good = await makeImage('png');
      other = await makeImage('png', { width: 50, height: 20, seed: 9 });
    });
    afterAll(async () => {
      await deps.screening.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    /** Does `work` the first time that `call` comes. */
    function once(call: string, work: () => Promise<unknown>): MediaContext {
      let isDone = false;
      return interrupted(deps, async (moment) => {
        if (isDone || moment.call !== call) return;
        isDone = true;
        await work();
      });
    }

    /** Fails when it looks at the object for the second time. */
    function stoppedAfterDraft(): MediaContext {
      let looks = 0;
      return interrupted(deps, ({ call }) => {
        if (call === 'before head' && ++looks === 2) throw problems.engine_unavailable();
      });
    }

    const row = ({ assetId }: RegistrationRequest) => findAsset(deps.db, assetId);
    const facts = { good: { width: 60, height: 40 }, other: { width: 50, height: 20 } };

    /** Nothing ready without its object; nothing left of what was refused. */
    async function isConsistent(request: RegistrationRequest, storageKey: string): Promise<void> {
      const [known, head] = [await row(request), await objects.head(storageKey)];
      if (known?.readyAt) expect(known.etag).toBe(head?.etag);
    }

    describe('an object that is overwritten', () => {
      it.each(['after head', 'after get', 'after inspect'])('%s is read again', async (moment) => {
        const { request, put } = await uploaded(objects, good);
        const overwritten = once(moment, () => put(other));
        expect(await outcomeOf(overwritten, request)).toBe('created');
        expect(await row(request)).toMatchObject(facts.other);
      });

      it('is not read as the inspected object', async () => {
        const { put, storageKey } = await uploaded(objects, good);
        const seen = await objects.head(storageKey);
        await put(other);
        const inspected =
          seen && withInspected(deps, { storageKey, head: seen, mime: 'image/png' }, async (found) => found);
        expect(await inspected).toBeUndefined();
      });

      it('by bytes that are refused is refused', async () => {
        const { request, put, storageKey } = await uploaded(objects, good);
        expect(
          await outcomeOf(
            once('after inspect', () => put(svg)),
            request,
          ),
        ).toBe('unsupported_image');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('during its refusal is retained and registered', async () => {
        const { request, put } = await uploaded(objects, svg);
        const replacing = interrupted(deps, async ({ number, call }) => {
          // The second look, before the removal.
          if (call === 'before head' && number > 2 && (await row(request))?.refusal) await put(good);
        });
        expect(await outcomeOf(replacing, request)).toBe('created');
        expect(await row(request)).toMatchObject({ ...facts.good, refusal: null });
      });

      it('again and again is no asset until it stops changing', async () => {
        const { request, put, storageKey } = await uploaded(objects, good);
        const restless = interrupted(deps, async ({ call }) => {
          if (call === 'after head') await put(good);
        });
        expect(await outcomeOf(restless, request)).toBe('object_changing');
        expect((await row(request))?.readyAt ?? null).toBeNull();
        await isConsistent(request, storageKey);
        expect(await outcomeOf(deps, request)).toBe('created');
      });
    });

    describe('an object that is removed', () => {
      it.each(['after head', 'after inspect'])('%s is no asset', async (moment) => {
        const { request, storageKey } = await uploaded(objects, good);
        expect(
          await outcomeOf(
            once(moment, () => objects.remove([storageKey])),
            request,
          ),
        ).toBe('object_not_found');
        expect(await row(request)).toBeUndefined();
      });
    });

    describe('two registrations of one id', () => {
      it('one refuses and removes the object while the other inspects it: no row is left', async () => {
        const { request, storageKey } = await uploaded(objects, good);
        const refusing = async () => expect(await outcomeOf(stricter, request)).toBe('asset_too_large');
        expect(await outcomeOf(once('after inspect', refusing), request)).toBe('object_not_found');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('one becomes ready while the other finds a fault: the object stays', async () => {
        const { request, storageKey } = await uploaded(objects, good);
        const overtaken = {
          ...once('after head', async () => expect(await outcomeOf(deps, request)).toBe('created')),
          limits: stricter.limits,
        };
        expect(await outcomeOf(overtaken, request)).toBe('replayed');
        expect((await objects.head(storageKey))?.etag).toBe((await row(request))?.etag);
      });

      it('one arrives before the other removes the object: both reject', async () => {
        const { request, storageKey } = await uploaded(objects, svg);
        const meeting = once('before remove', async () =>
          expect(await outcomeOf(deps, request)).toBe('unsupported_image'),
        );
        expect(await outcomeOf(meeting, request)).toBe('unsupported_image');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('one becomes ready between the steps of the other: one row', async () => {
        for (const moment of ['after head', 'after inspect', 'after get']) {
          const { request } = await uploaded(objects, good);
          const overtaken = once(moment, async () => expect(await outcomeOf(deps, request)).toBe('created'));
          expect(await outcomeOf(overtaken, request)).toBe('replayed');
        }
      });

      it('one drafts other bytes before the other publishes: no unscreened bytes become ready', async () => {
        const { request, put } = await uploaded(objects, good);
        let looks = 0;
        let inspections = 0;
        const overtaken = interrupted(deps, async ({ call }) => {
          if (call === 'before inspect') inspections += 1;
          if (call !== 'after head' || ++looks !== 2) return;
          await put(other);
          expect(await outcomeOf(stoppedAfterDraft(), request)).toBe('engine_unavailable');
        });
        expect(await outcomeOf(overtaken, request)).toBe('created');
        expect(inspections).toBe(2);
        expect(await row(request)).toMatchObject(facts.other);
      });

      it('one removes the object that the other accepts: both reject', async () => {
        const { request, storageKey } = await uploaded(objects, good);
        const isRefused = Promise.withResolvers<void>();
        const isOver = Promise.withResolvers<void>();
        const waiting = interrupted(deps, async ({ call }) => {
          if (call !== 'before remove') return;
          isRefused.resolve();
          await isOver.promise;
        });
        let refusing: Promise<string> | undefined;
        const accepting = once('after inspect', () => {
          refusing = outcomeOf({ ...waiting, limits: stricter.limits }, request);
          return isRefused.promise;
        });
        expect(await outcomeOf(accepting, request)).toBe('asset_too_large');
        isOver.resolve();
        expect(await refusing).toBe('asset_too_large');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('one has refused it when the other would make it ready: both refuse', async () => {
        const { request, storageKey } = await uploaded(objects, good);
        const stopping = interrupted(deps, ({ call }) => {
          if (call === 'before remove') throw problems.engine_unavailable();
        });
        let looks = 0;
        const overtaken = interrupted(deps, async ({ call }) => {
          if (call !== 'after head' || ++looks !== 2) return;
          expect(await outcomeOf({ ...stopping, limits: stricter.limits }, request)).toBe('engine_unavailable');
        });
        expect(await outcomeOf(overtaken, request)).toBe('asset_too_large');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('one has drafted it as another kind: a conflict', async () => {
        const { request } = await uploaded(objects, good);
        const asOther = { ...request, kind: 'other' };
        const overtaken = once('after inspect', async () => {
          expect(await outcomeOf(stoppedAfterDraft(), asOther)).toBe('engine_unavailable');
        });
        expect(await outcomeOf(overtaken, request)).toBe('asset_conflict');
        expect(await outcomeOf(deps, asOther)).toBe('created');
      });

      it('as another kind, of an id that is being refused, does not wait', async () => {
        const { request, storageKey } = await uploaded(objects, svg);
        const asOther = { ...request, kind: 'other' };
        const meeting = once('before remove', async () =>
          expect(await outcomeOf(deps, asOther)).toBe('object_not_found'),
        );
        expect(await outcomeOf(meeting, request)).toBe('unsupported_image');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });
    });

    describe('screening', () => {
      const match = { check: 'classifier', list: 'test', listed: null, distance: null } as const;
      /** Its screening finds what that of others does not, as while a list is being changed. */
      const finding = (before: () => Promise<unknown> = async () => undefined): MediaContext => ({
        ...deps,
        screening: {
          ...deps.screening,
          screen: async () => {
            await before();
            return { match, labels: [], hits: [] };
          },
        },
      });

      it('that matches prevails over a concurrent registration of the same bytes that became ready', async () => {
        const { request, storageKey } = await uploaded(objects, good);
        const late = finding(async () => expect(await outcomeOf(deps, request)).toBe('created'));
        expect(await outcomeOf(late, request)).toBe('csam_blocked');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('blocks the bytes that it read: bytes that were uploaded since are screened separately', async () => {
        const { request, put } = await uploaded(objects, good);
        let isLate = false;
        const late = finding(async () => {
          if (isLate) return;
          isLate = true;
          await put(other);
          expect(await outcomeOf(deps, request)).toBe('created');
        });
        expect(await outcomeOf(late, request)).toBe('replayed');
        expect(await row(request)).toMatchObject(facts.other);
      });

      it('that fails leaves an unreadable draft, which a retry finishes', async () => {
        const { request } = await uploaded(objects, good);
        const failing = once('before screen', async () => {
          throw mediaProblems.screening_unavailable();
        });
        expect(await outcomeOf(failing, request)).toBe('screening_unavailable');
        expect(await row(request)).toMatchObject({ readyAt: null, refusal: null });
        expect(await outcomeOf(deps, request)).toBe('created');
      });

      it('is over before anything can be read', async () => {
        const { request } = await uploaded(objects, good);
        const seen: unknown[] = [];
        const watching = interrupted(deps, async ({ call }) => {
          if (call === 'before screen' || call === 'after screen') seen.push((await row(request))?.readyAt);
        });
        expect(await outcomeOf(watching, request)).toBe('created');
        expect(seen).toEqual([null, null]);
      });
    });

    describe('an interruption at any step', () => {
      /** Runs `request` again and again, stopped one moment later each time, until it is not stopped any more. */
      async function stopEverywhere(bytes: Uint8Array, ending: string, repeats: readonly string[]): Promise<void> {
        for (let stopAt = 1; ; stopAt++) {
          const { request, storageKey, put } = await uploaded(objects, bytes);
          const stopping = interrupted(deps, ({ number, call }) => {
            if (number === stopAt) throw problems.engine_unavailable({ cause: new Error(call) });
          });
          const first = await outcomeOf(stopping, request);
          await isConsistent(request, storageKey);
          if (first !== 'engine_unavailable') {
            expect(first).toBe(ending);
            expect(stopAt).toBeGreaterThan(1);
            return;
          }
          expect([stopAt, repeats]).toEqual([stopAt, expect.arrayContaining([await outcomeOf(deps, request)])]);
          await isConsistent(request, storageKey);
          if (ending === 'created') continue;
          expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
          await put(good);
          expect(await outcomeOf(deps, request)).toBe('created');
        }
      }

      it('of a valid image completes with a retry', async () => {
        await stopEverywhere(good, 'created', ['created', 'replayed']);
      });

      it('of an invalid image stores nothing after a retry', async () => {
        await stopEverywhere(svg, 'unsupported_image', ['unsupported_image', 'object_not_found']);
      });

      it('of a refusal does not affect a later upload', async () => {
        const { request, put, storageKey } = await uploaded(objects, svg);
        const stopping = interrupted(deps, ({ call }) => {
          if (call === 'after remove') throw problems.engine_unavailable();
        });
        expect(await outcomeOf(stopping, request)).toBe('engine_unavailable');
        expect([(await row(request))?.refusal, await objects.head(storageKey)]).toEqual([
          'unsupported_image',
          undefined,
        ]);
        await put(good);
        expect(await outcomeOf(deps, request)).toBe('created');
      });

      it('that leaves a draft, whose object then changes, registers the new object', async () => {
        const { request, put, storageKey } = await uploaded(objects, good);
        expect(await outcomeOf(stoppedAfterDraft(), request)).toBe('engine_unavailable');
        expect(await row(request)).toMatchObject({ ...facts.good, readyAt: null });
        await put(other);
        expect(await outcomeOf(deps, request)).toBe('created');
        expect(await row(request)).toMatchObject(facts.other);
        await isConsistent(request, storageKey);
      });
    });

    describe('a store', () => {
      it('that cannot remove leaves the refusal to be finished', async () => {
        const { request, storageKey } = await uploaded(objects, svg);
        const failing = {
          ...deps,
          objects: { ...objects, remove: async () => ({ removed: [], failed: [{ key: storageKey, reason: 'EIO' }] }) },
        };
        expect(await outcomeOf(failing, request)).toBe('engine_unavailable');
        expect(await outcomeOf(deps, request)).toBe('unsupported_image');
        expect([await row(request), await objects.head(storageKey)]).toEqual([undefined, undefined]);
      });

      it('that breaks off in the middle of an image does not condemn it', async () => {
        const { request } = await uploaded(objects, good);
        const failing = {
          ...deps,
          objects: {
            ...objects,
            get: async (...args: Parameters<typeof objects.get>) => {
              const body = await objects.get(...args);
              body?.stream.destroy(new Error('the line is cut'));
              return body;
            },
          },
        };
        expect(await outcomeOf(failing, request)).toBe('engine_unavailable');
        expect(await outcomeOf(deps, request)).toBe('created');
      });
    });

    describe('the engine', () => {
      it('without a permit, or over its time, does not condemn an image', async () => {
        const { request } = await uploaded(objects, good);
        const busy = { ...deps, images: createPermits({ count: 0, waitMs: 10 }) };
        expect(await outcomeOf(busy, request)).toBe('overloaded');
        const limits = { maxSourcePixels: 1e6, processTimeoutMs: 0, concurrency: 2, permitWaitMs: 5000 };
        expect(await outcomeOf({ ...deps, engine: createEngine(limits) }, request)).toBe('overloaded');
        expect(await outcomeOf(deps, request)).toBe('created');
      });
    });
  });
