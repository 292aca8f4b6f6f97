import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { openFiles, outcomeOf, registrationDeps, uploaded } from '../../../test/media/registering.fixture.ts';
import { hourMs, sweepAll, sweepDeps } from '../../../test/media/sweeping.fixture.ts';
import { draftAsset } from '../assets/assetstore.ts';
import type { MediaContext } from '../context.ts';
import { unknownFacts } from '../registration/inspection.ts';
import type { MediaTables } from '../tables.ts';

/** More steps than any operation here has. */
const manyMoments = 120;
/** As many as it has with a single object, and some. */
const someMoments = 60;

/** In the quick lane. It is odd, so that both branches of a test get their turn. */
const momentsBetween = isNightly ? 1 : 5;

type Uploaded = Awaited<ReturnType<typeof uploaded>>;

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`a sweep and a registration at once on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let png: Buffer;
    let deps: MediaContext;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-sweep-'));
      database = await engine.open(migrations);
      png = await makeImage('png');
      deps = registrationDeps(database, folder);
    });
    afterAll(async () => {
      await deps.screening.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    const files = () => openFiles(folder);
    const registering = () => deps;
    const sweeping = (laterMs = 25 * hourMs) => sweepDeps(database, folder, laterMs);
    const rowOf = ({ request }: Uploaded) =>
      database
        .queries<MediaTables>()
        .selectFrom('assets')
        .select(['etag', 'ready_at as readyAt'])
        .where('asset_id', '=', request.assetId)
        .executeTakeFirst();

    /** A successful registration is complete. A failed one leaves nothing. */
    async function judge(what: Uploaded, outcome: string): Promise<void> {
      const head = await files().head(what.storageKey);
      const row = await rowOf(what);
      if (outcome === 'created') expect([row?.etag, row?.readyAt]).toEqual([head?.etag, expect.any(Date)]);
      else expect([outcome, row, head]).toEqual(['object_not_found', undefined, undefined]);
    }

    /** An upload without a registration, or with an unfinished one. */
    async function abandoned(isBegun: boolean): Promise<Uploaded> {
      const what = await uploaded(files(), png);
      const { request, storageKey } = what;
      if (!isBegun) return what;
      const { etag } = (await files().head(storageKey)) ?? { etag: '' };
      const identity = { ...request, ownerId: String(request.ownerId), requestedMime: request.mime };
      const place = { bucket: 'objects', storageKey, etag, byteSize: png.length };
      expect(await draftAsset(database.queries<MediaTables>(), identity, place, unknownFacts(request.mime))).toBe(true);
      return what;
    }

    describe.each([
      ['of an upload', false],
      ['of a registration that was begun', true],
    ])('%s', (_name, isBegun) => {
      it('a registration at any step of a sweep is complete, or absent', async () => {
        const outcomes = new Set<string>();
        for (let workAt = 1; workAt < manyMoments; workAt += momentsBetween) {
          const what = await abandoned(isBegun);
          let outcome: string | undefined;
          await sweepAll(
            interrupted(sweeping(), async ({ number, call }) => {
              if (outcome !== undefined || number < workAt || ['before query', 'in a transaction'].includes(call))
                return;
              outcome = 'under way';
              outcome = await outcomeOf(registering(), what.request);
            }),
          );
          if (outcome === undefined) {
            expect(workAt).toBeGreaterThan(8);
            expect([...outcomes].sort()).toEqual(['created', 'object_not_found']);
            return;
          }
          outcomes.add(outcome);
          await judge(what, outcome);
        }
        throw new Error('a sweep has more moments than were thought of');
      });

      it('a sweep at any step of a registration leaves it complete, or absent', async () => {
        const outcomes = new Set<string>();
        for (let workAt = 1; workAt < manyMoments; workAt++) {
          const what = await abandoned(isBegun);
          let hasWorked = false;
          const outcome = await outcomeOf(
            interrupted(registering(), async ({ number, call }) => {
              if (hasWorked || number < workAt || ['before query', 'in a transaction'].includes(call)) return;
              hasWorked = true;
              await sweepAll(sweeping());
            }),
            what.request,
          );
          await judge(what, outcome);
          // The last step is a transaction. A sweep after it finds an asset.
          outcomes.add(outcome);
          if (!hasWorked) {
            expect(workAt).toBeGreaterThan(6);
            expect([...outcomes].sort()).toEqual(['created', 'object_not_found']);
            return;
          }
        }
        throw new Error('a registration has more moments than were thought of');
      });

      it('concurrent sweeps and registrations leave it complete, or absent', async () => {
        for (let round = 0; round < 10; round++) {
          const what = await abandoned(isBegun);
          const [outcome = ''] = await Promise.all([
            outcomeOf(registering(), what.request),
            sweepAll(sweeping()),
            sweepAll(sweeping()),
            sweepAll(sweeping()),
          ]);
          await judge(what, outcome);
        }
      });
    });

    it('an upload during a sweep is not confused with the previous object', async () => {
      for (let workAt = 1; workAt < someMoments; workAt += momentsBetween) {
        const what = await abandoned(false);
        let hasWorked = false;
        const nowMs = Date.now();
        // Everything so far is old, and what comes now is not.
        await new Promise((resolve) => setTimeout(resolve, 20));
        const later = { ...sweeping(), clock: { now: () => nowMs + 10 + 24 * hourMs } };
        await sweepAll(
          interrupted(later, async ({ number, call }) => {
            if (hasWorked || number < workAt || ['before query', 'in a transaction'].includes(call)) return;
            hasWorked = true;
            // Not over what is there: addresses create only.
            if ((await files().head(what.storageKey)) === undefined) await what.put(png);
          }),
        );
        const head = await files().head(what.storageKey);
        if (!hasWorked) return;
        if (head !== undefined) await judge(what, await outcomeOf(registering(), what.request));
        expect((await rowOf(what))?.readyAt ?? 'none').toEqual(head === undefined ? 'none' : expect.any(Date));
      }
    });

    it('a store that fails at any step leaves objects that a later sweep finds', async () => {
      for (let failAt = 1; failAt < someMoments; failAt += momentsBetween) {
        const what = await abandoned(failAt % 2 === 0);
        let hasFailed = false;
        const failing = interrupted(sweeping(), ({ number }) => {
          if (number !== failAt) return;
          hasFailed = true;
          throw problems.engine_unavailable();
        });
        await sweepAll(failing).catch((error: { code?: string }) => expect(error.code).toBe('engine_unavailable'));
        await sweepAll(sweeping(50 * hourMs));
        expect([await files().head(what.storageKey), await rowOf(what)]).toEqual([undefined, undefined]);
        if (!hasFailed) return;
      }
    });

    it('another’s upload of the same id is not held up', async () => {
      const what = await abandoned(false);
      await sweepAll(sweeping());
      await what.put(png);
      expect(await outcomeOf(registering(), what.request)).toBe('created');
      expect(await outcomeOf(registering(), { ...what.request, assetId: randomUUID() })).toBe('object_not_found');
    });
  });
