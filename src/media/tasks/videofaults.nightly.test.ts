/** A store or a database that fails at any step of the two video jobs, and of a watermarked image: the next attempt mends it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { createPermits } from '#image/engine/permits.ts';
import { createEngine } from '#image/engine/working.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import type { Database } from '#platform/db/db.ts';
import type { Job } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { problems } from '#platform/problem.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { everyNth, isNightly } from '../../../test/lane.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { processingDeps } from '../../../test/media/processing.child.ts';
import { matroskaClip } from '../../../test/media/renditionsamples.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { scopeDeletion } from '../api.ts';
import { posterIdOf } from '../assets/asset.ts';
import { renditionKeyOf, storageKeyOf, watermarkKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { deleteScope } from '../scopes/scopedeletion.ts';
import type { MediaTables } from '../tables.ts';
import { createImageWatermarker } from '../watermarks/imagewatermark.ts';
import { makeVideoWatermark } from '../watermarks/videowatermark.ts';
import { processVideo } from './processing.ts';
import { findTask, insertRun } from './taskstore.ts';

/** More steps than any operation here has. */
const manyMoments = 120;
const atOnce = 6;
/** In the quick lane. */
const momentsBetween = 15;

const jobOf = <Payload>(payload: Payload): Job<Payload> => ({
  ...{ jobId: randomUUID(), payload, attempt: 1, isLastAttempt: false },
  ...{ signal: new AbortController().signal, complete: async () => undefined, completeBy: async () => undefined },
  move: async () => undefined,
  postpone: async () => undefined,
});

interface Upload {
  readonly ownerId: string;
  readonly assetId: string;
  readonly key: string;
}

describe.skipIf(skipWithout('ffmpeg'))('what fails once on the way', () => {
  let folder: string;
  let database: Database;
  let deps: MediaContext;
  let bytes: Buffer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-faults-'));
    database = await openTestDatabase(migrations);
    bytes = await readFile(await render(matroskaClip, folder));
    deps = processingDeps(database, folder);
  });
  afterAll(async () => {
    await deps.screening.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const place = { scopeKind: 'thread', scopeId: 's', mime: 'video/mp4' };
  async function uploaded(): Promise<Upload> {
    const [ownerId, assetId] = [randomUUID(), randomUUID()];
    const key = storageKeyOf({ ...place, ownerId, assetId });
    await deps.objects.put(key, bytes, { contentType: 'video/mp4' });
    return { ownerId, assetId, key };
  }
  async function keysOf({ ownerId }: Upload): Promise<readonly string[]> {
    const keys = [];
    for await (const { key } of deps.objects.list(`u/${ownerId}/`)) keys.push(key);
    return keys.sort();
  }

  /**
   * `work` with engines that fail at one of their calls, before it or after it, for each of them; then with good ones.
   */
  async function failEverywhere(
    work: (deps: MediaContext, what: Upload) => Promise<unknown>,
    judge: (what: Upload) => Promise<unknown>,
  ) {
    let calls = 0;
    const numbers = everyNth(
      Array.from({ length: manyMoments }, (_, index) => index + 1),
      momentsBetween,
    );
    await mapConcurrently(numbers, atOnce, async (failAt) => {
      if (calls > 0 && failAt > calls) return;
      const what = await uploaded();
      let hasFailed = false;
      const failing = interrupted(deps, ({ number }) => {
        if (number !== failAt) return;
        hasFailed = true;
        throw problems.engine_unavailable();
      });
      const outcome = await work(failing, what).catch((error: unknown) => error);
      if (!hasFailed) calls ||= failAt;
      else if (outcome instanceof Error) await work(deps, what);
      await judge(what);
    });
    // It ends where a call of that number is not made any more.
    expect(calls).toBeGreaterThan(1);
  }

  it('a video task is completed by the next attempt', { timeout: 240_000 }, async () => {
    const tasks = new Map<string, string>();
    const work = async (working: MediaContext, what: Upload) => {
      const taskId = tasks.get(what.assetId) ?? randomUUID();
      const { ownerId, assetId } = what;
      if (!tasks.has(assetId)) {
        tasks.set(assetId, taskId);
        const begun = { status: 'pending', mediaType: 'video', metadata: {} } as const;
        await insertRun(deps.db, { ...begun, taskId, runId: taskId, ownerId, assetId, storageKey: what.key });
      }
      await processVideo(working, jobOf({ ...place, taskId, runId: taskId, ownerId, assetId }));
    };
    await failEverywhere(work, async (what) => {
      const poster = { ...place, ownerId: what.ownerId, assetId: posterIdOf(what.assetId), mime: 'image/jpeg' };
      const task = await findTask(deps.db, String(tasks.get(what.assetId)));
      expect(task).toMatchObject({
        status: 'completed',
        metadata: { output: { assetIds: [what.assetId, poster.assetId] } },
      });
      expect(await keysOf(what)).toEqual([what.key, renditionKeyOf(what.key), storageKeyOf(poster)].sort());
      const rows = database
        .queries<MediaTables>()
        .selectFrom('assets')
        .select(['asset_id as assetId', 'ready_at as readyAt']);
      const ready = (await rows.where('owner_id', '=', what.ownerId).execute()).filter(
        ({ readyAt }) => readyAt !== null,
      );
      expect(ready.map(({ assetId }) => assetId).sort()).toEqual([what.assetId, poster.assetId].sort());
    });
  });

  it('a video task whose scope is deleted at any step stores nothing', { timeout: 240_000 }, async () => {
    const { removed, jobs } = { removed: [] as string[], jobs: createJobs({ database, log: deps.log }) };
    const fates = new Map<string, number>();
    for (let cutAt = 1; ; cutAt += isNightly ? 1 : momentsBetween) {
      const what = await uploaded();
      const [{ ownerId, assetId }, taskId] = [what, randomUUID()];
      const begun = { status: 'pending', mediaType: 'video', metadata: {} } as const;
      await insertRun(deps.db, { ...begun, taskId, runId: taskId, ownerId, assetId, storageKey: what.key });
      let moments = 0;
      // An open transaction waits for this call, so a deletion that waits for its locks would never end.
      const cut = interrupted(deps, async ({ call }) => {
        if (call.endsWith('query') || call === 'in a transaction' || ++moments !== cutAt) return;
        const request = scopeDeletion.parse({ ownerId, scopeKind: 'thread' });
        await deleteScope({ ...deps, jobs }, { kind: 'internal' }, request);
        removed.push(call);
      });
      const job = jobOf({ ...place, taskId, runId: taskId, ownerId, assetId });
      const outcome = await processVideo(cut, job).catch((error: unknown) => error);
      if (moments < cutAt) break;
      if (outcome instanceof Error) await processVideo(deps, job);
      const rows = database.queries<MediaTables>().selectFrom('assets').select('ready_at as readyAt');
      const left = await rows.where('owner_id', '=', ownerId).execute();
      expect([cutAt, left.filter(({ readyAt }) => readyAt !== null)]).toEqual([cutAt, []]);
      const keys = await keysOf(what);
      expect([cutAt, keys.filter((key) => key !== what.key)]).toEqual([cutAt, []]);
      const task = await findTask(deps.db, taskId);
      fates.set(String(task?.status), (fates.get(String(task?.status)) ?? 0) + 1);
      if (task?.status === 'failed') expect(task.metadata).toMatchObject({ error: 'cancelled' });
    }
    expect(removed).not.toEqual([]);
    // All but the moments after it was completed.
    expect([...fates.keys()]).toContain('failed');
  });

  it('a watermarked video is made by the next attempt', { timeout: 240_000 }, async () => {
    const bucket = deps.objects.bucket;
    await failEverywhere(
      (working, { key }) => makeVideoWatermark(working, jobOf({ backend: 'objects', bucket, storageKey: key })),
      async (what) => expect(await keysOf(what)).toEqual([what.key, watermarkKeyOf('video', what.key, '')]),
    );
  });

  it('a watermarked image is made by the next call', async () => {
    const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
    const [engine, images] = [createEngine(limits), createPermits({ count: atOnce, waitMs: 5000 })];
    const png = await makeImage('png');
    await failEverywhere(
      async ({ objects }, { key }) => {
        if ((await deps.objects.head(key))?.size !== png.length)
          await deps.objects.put(key, png, { contentType: 'image/png' });
        await createImageWatermarker({ db: deps.db, engine, images }).ensure({
          objects,
          storageKey: key,
          etag: undefined,
        });
      },
      async (what) => expect(await keysOf(what)).toEqual([what.key, `${what.key}.wm.jpg`]),
    );
  });
});
