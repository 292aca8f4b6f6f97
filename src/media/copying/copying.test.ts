import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import {
  type CopyOf,
  copyDeps,
  copyOutcome,
  holdingsOf,
  plantSource,
  type SourceKind,
} from '../../../test/media/copying.fixture.ts';
import { deletionOutcome, removalDeps } from '../../../test/media/deleting.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { digestOf, openLists } from '../../../test/media/lists.fixture.ts';
import { sweepAll, sweepDeps } from '../../../test/media/sweeping.fixture.ts';
import type { MediaContext } from '../context.ts';

/** More steps than any operation here has. */
const manyMoments = 40;
const kinds: readonly SourceKind[] = ['asset', 'legacy path'];
const nothing = { ready: 0, unready: 0, objects: 0 };

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`a copy on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let deps: MediaContext;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-copy-'));
      database = await engine.open(migrations);
      deps = copyDeps(database, folder);
    });
    afterAll(async () => {
      await deps.screening.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    const holdings = ({ ownerId }: CopyOf) => holdingsOf(database, folder, ownerId);
    const removal = () => removalDeps(database, folder);
    const closeAccount = ({ ownerId }: CopyOf) => deletionOutcome(removal(), 'scope', { ownerId, assetIds: [] });

    /** At each moment of a copy in turn: does `work`, then hands the outcome to `judge`. */
    async function atEveryMoment(
      kind: SourceKind,
      work: (what: CopyOf) => Promise<unknown>,
      judge: (what: CopyOf, outcome: string) => Promise<unknown>,
    ): Promise<ReadonlySet<string>> {
      const outcomes = new Set<string>();
      for (let workAt = 1; workAt < manyMoments; workAt += isNightly ? 1 : 8) {
        const what = await plantSource(deps, kind);
        let hasWorked = false;
        const copying = interrupted(deps, async ({ number, call }) => {
          if (hasWorked || number < workAt || ['before query', 'in a transaction'].includes(call)) return;
          hasWorked = true;
          await work(what);
        });
        const outcome = await copyOutcome(copying, what);
        // The last step is a transaction.
        outcomes.add(outcome);
        if (!hasWorked) {
          expect(outcome).toBe('copied');
          expect(workAt).toBeGreaterThan(5);
          return outcomes;
        }
        await judge(what, outcome);
      }
      throw new Error('a copy has more moments than were thought of');
    }

    it.each(kinds)('of an %s that fails at any step stores nothing', async (kind) => {
      const before = { ready: kind === 'asset' ? 1 : 0, unready: 0, objects: kind === 'asset' ? 1 : 0 };
      const codes = new Set<string>();
      for (let failAt = 1; ; failAt++) {
        const what = await plantSource(deps, kind);
        let hasFailed = false;
        const failing = interrupted(deps, ({ number }) => {
          if (number !== failAt) return;
          hasFailed = true;
          throw problems.engine_unavailable();
        });
        const outcome = await copyOutcome(failing, what);
        if (!hasFailed) {
          expect(outcome).toBe('copied');
          expect(failAt).toBeGreaterThan(8);
          break;
        }
        codes.add(outcome);
        expect(await holdings(what)).toEqual(before);
        expect(await copyOutcome(deps, what)).toBe('copied');
      }
      expect([...codes].sort()).toEqual(['copy_failed', 'engine_unavailable']);
    });

    it('whose source is deleted at any step is complete, or is 404 and stores nothing', async () => {
      const outcomes = await atEveryMoment(
        'asset',
        ({ ownerId, request }) =>
          deletionOutcome(removal(), 'assets', { ownerId, assetIds: [Object(request).fromAssetId] }),
        async (what, outcome) =>
          expect(await holdings(what)).toEqual(outcome === 'copied' ? { ready: 1, unready: 0, objects: 1 } : nothing),
      );
      expect([...outcomes].sort()).toEqual(['copied', 'not_found']);
    });

    it('does not survive a deletion of all assets of its owner, at any moment', async () => {
      const outcomes = await atEveryMoment('asset', closeAccount, async (what) =>
        expect(await holdings(what)).toEqual(nothing),
      );
      expect([...outcomes].sort()).toEqual(['copied', 'not_found']);
    });

    it('whose target is deleted at any moment is made again, or deleted with it', async () => {
      const outcomes = await atEveryMoment('legacy path', closeAccount, async (what, outcome) => {
        expect(outcome).toBe('copied');
        const { ready, unready, objects } = await holdings(what);
        expect([ready, unready]).toEqual([objects, 0]);
      });
      expect([...outcomes]).toEqual(['copied']);
    });

    it('of an asset that keeps its metadata reads no byte of it', async () => {
      const what = await plantSource(deps, 'asset');
      const unreadable = {
        ...deps.objects,
        get: async () => {
          throw new Error('it was read');
        },
      };
      expect(await copyOutcome({ ...deps, objects: unreadable, publicScopes: [] }, what)).toBe('copied');
    });

    it.each(kinds)('of a listed %s is never shown, at any moment of failure', { timeout: 60_000 }, async (kind) => {
      const lists = await openLists();
      const listing = copyDeps(database, folder, { blockedHashes: lists.folder });
      const own = kind === 'asset' ? 1 : 0;
      const outcomes = new Set<string>();
      await lists.write('sha256', digestOf('sha256', await makeImage('png')));
      for (let failAt = 1; failAt < manyMoments; failAt++) {
        // By a process without a list.
        const what = await plantSource(deps, kind);
        let hasFailed = false;
        const failing = interrupted(listing, ({ number }) => {
          if (number !== failAt) return;
          hasFailed = true;
          throw problems.engine_unavailable();
        });
        const outcome = await copyOutcome(failing, what);
        outcomes.add(outcome);
        expect((await holdings(what)).ready).toBe(own);
        await sweepAll(sweepDeps(database, folder));
        expect(await holdings(what)).toEqual({ ready: own, unready: 0, objects: own });
        if (hasFailed) continue;
        expect(outcome).toBe('csam_blocked');
        expect(failAt).toBeGreaterThan(12);
        break;
      }
      expect([...outcomes].sort()).toEqual(['copy_failed', 'csam_blocked', 'engine_unavailable']);
      await listing.screening.close();
      await lists.close();
    });

    it('and a deletion at once leave no object without a row and no row without its object', async () => {
      for (let round = 0; round < 8; round++) {
        const what = await plantSource(deps, 'asset');
        const copies = Array.from({ length: 6 }, () => copyOutcome(deps, what));
        const outcomes = await Promise.all([closeAccount(what), ...copies]);
        for (const outcome of outcomes.slice(1)) expect(['copied', 'not_found']).toContain(outcome);
        expect(await holdings(what)).toEqual(nothing);
      }
    });

    it('of many at once makes as many', async () => {
      const what = await plantSource(deps, 'asset');
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => copyOutcome(deps, what)));
      expect(new Set(outcomes)).toEqual(new Set(['copied']));
      expect(await holdings(what)).toEqual({ ready: 9, unready: 0, objects: 9 });
    });

    it('of bytes other than the registered ones is never created', async () => {
      const what = await plantSource(deps, 'asset');
      for await (const { key } of deps.objects.list(`u/${what.ownerId}/`))
        await deps.objects.put(key, Buffer.from('others'), { contentType: 'image/png' });
      expect(await copyOutcome(deps, what)).toBe('asset_changing');
      const rows = await database
        .queries<{ assets: { owner_id: string } }>()
        .selectFrom('assets')
        .select('owner_id')
        .where('owner_id', '=', what.ownerId)
        .execute();
      expect(rows.length).toBe(1);
    });

    it('that cannot be removed leaves an unreadable row, by which it is found', async () => {
      const what = await plantSource(deps, 'asset');
      const objects = {
        ...deps.objects,
        copy: async (...args: Parameters<typeof deps.objects.copy>) => {
          await deps.objects.copy(...args);
          throw problems.engine_unavailable();
        },
        remove: async () => {
          throw problems.engine_unavailable();
        },
      };
      expect(await copyOutcome({ ...deps, objects }, what)).toBe('copy_failed');
      expect(await holdings(what)).toEqual({ ready: 1, unready: 1, objects: 2 });
      expect(await closeAccount(what)).toBe('2');
      expect(await holdings(what)).toEqual(nothing);
    });

    it('that fails does not wait long for a store that does not respond, and is removed later', async () => {
      const what = await plantSource(deps, 'asset');
      const [began, responds] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const objects = {
        ...deps.objects,
        copy: async () => {
          throw problems.engine_unavailable();
        },
        remove: async (...args: Parameters<typeof deps.objects.remove>) => {
          began.resolve();
          await responds.promise;
          return deps.objects.remove(...args);
        },
      };
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const outcome = copyOutcome({ ...deps, objects }, what);
      await began.promise;
      await vi.advanceTimersByTimeAsync(1000);
      expect(await outcome).toBe('copy_failed');
      vi.useRealTimers();
      responds.resolve();
      await expect.poll(() => holdings(what)).toEqual({ ready: 1, unready: 0, objects: 1 });
    });
  });
