import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import {
  type DeletionKind,
  deletionOutcome,
  plantVideo,
  removalDeps,
  rowsOfAll,
} from '../../../test/media/deleting.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type Interrupt, interrupted } from '../../../test/media/interruption.fixture.ts';
import { remaining } from '../../../test/media/planting.fixture.ts';
import { outcomeOf, registrationDeps, uploaded } from '../../../test/media/registering.fixture.ts';
import { findAsset } from '../assets/assetstore.ts';
import type { MediaContext } from '../context.ts';

const deeds: readonly DeletionKind[] = ['assets', 'scope'];
/** More steps than any operation here has. */
const manyMoments = 60;

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`a deletion on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let deps: MediaContext;
    let registering: MediaContext;
    let png: Buffer;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-deletion-'));
      database = await engine.open(migrations);
      deps = removalDeps(database, folder);
      registering = registrationDeps(database, folder);
      png = await makeImage('png');
    });
    afterAll(async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    const ground = () => ({ database, originals: deps.objects });

    describe.each(deeds)('of %s', (deed) => {
      it('that fails at any step returns 503, preserves the rows of remaining objects, and can be repeated', async () => {
        const calls: string[] = [];
        for (let failAt = 1; failAt < manyMoments; failAt++) {
          const what = await plantVideo(ground());
          let hasFailed = false;
          const failing = interrupted(deps, ({ number, call }) => {
            if (number !== failAt) return;
            hasFailed = true;
            calls.push(call);
            throw problems.engine_unavailable();
          });
          const outcome = await deletionOutcome(failing, deed, what);
          if (!hasFailed) {
            expect(outcome).toBe(deed === 'assets' ? '2' : '3');
            break;
          }
          expect(outcome).toBe('engine_unavailable');
          const kept = await rowsOfAll(ground(), what.all);
          // Of a scope all rows go or none.
          if (deed === 'scope') expect([0, 3]).toContain(kept);
          const named = (await remaining(ground(), what.named)).rows;
          expect(await deletionOutcome(deps, deed, what)).toBe(String(deed === 'assets' ? named : kept));
          expect(await remaining(ground(), what.all)).toEqual({ rows: 0, objects: 0 });
        }
        expect(calls).toEqual(
          expect.arrayContaining(['before remove', 'after remove', 'before forgetAll', 'after forgetAll']),
        );
        expect(calls.length).toBeLessThan(manyMoments - 1);
      });

      it('preserves every row if one object cannot be removed', async () => {
        const what = await plantVideo(ground());
        const key = String(what.named[1]?.storageKey);
        const objects = {
          ...deps.objects,
          remove: async (keys: readonly string[]) => {
            const { removed } = await deps.objects.remove(keys.filter((one) => one !== key));
            return { removed, failed: [{ key, reason: 'AccessDenied' }] };
          },
        };
        expect(await deletionOutcome({ ...deps, objects }, deed, what)).toBe('engine_unavailable');
        expect((await remaining(ground(), what.all)).rows).toBe(3);
        expect(await deletionOutcome(deps, deed, what)).toBe(deed === 'assets' ? '2' : '3');
        expect(await remaining(ground(), what.all)).toEqual({ rows: 0, objects: 0 });
      });

      it('leaves no ready row without its object, at any moment and for any concurrent call', {
        timeout: 60_000,
      }, async () => {
        const outcomes = new Set<string>();
        for (let workAt = 1; workAt < manyMoments; workAt++) {
          const { request, storageKey, put } = await uploaded(deps.objects, png);
          expect(await outcomeOf(registering, request)).toBe('created');
          const what = { ownerId: String(request.ownerId), assetIds: [request.assetId] };
          let hasWorked = false;
          const work: Interrupt = async ({ number, call }) => {
            // Between queries only: what is done before one is done after the one before it.
            if (hasWorked || number < workAt || ['before query', 'in a transaction'].includes(call)) return;
            hasWorked = true;
            // Another call deletes the id, and its owner uploads and registers it again.
            await deletionOutcome(deps, deed, what);
            await put(png);
            outcomes.add(await outcomeOf(registering, request));
          };
          await deletionOutcome(interrupted(deps, work), deed, what);
          if (!hasWorked) break;
          const row = await findAsset(deps.db, request.assetId);
          const head = await deps.objects.head(storageKey);
          expect(row?.etag).toBe(head?.etag);
        }
        expect([...outcomes]).toEqual(['created']);
      });

      it('at any moment of a registration leaves no ready row without its object', { timeout: 60_000 }, async () => {
        const outcomes = new Set<string>();
        for (let deleteAt = 1; deleteAt < manyMoments; deleteAt++) {
          const { request, storageKey } = await uploaded(deps.objects, png);
          const what = { ownerId: String(request.ownerId), assetIds: [request.assetId] };
          let hasDeleted = false;
          const registration = interrupted(registering, async ({ number, call }) => {
            if (hasDeleted || number < deleteAt || ['before query', 'in a transaction'].includes(call)) return;
            hasDeleted = true;
            await deletionOutcome(deps, deed, what);
          });
          outcomes.add(await outcomeOf(registration, request));
          if (!hasDeleted) break;
          const row = await findAsset(deps.db, request.assetId);
          const head = await deps.objects.head(storageKey);
          if (row !== undefined) expect(row.etag).toBe(head?.etag);
        }
        expect([...outcomes].sort()).toEqual(['created', 'object_not_found']);
      });
    });
  });
