import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registrationRequest } from '#media/api.ts';
import { storageKeyOf, videoWatermarkKeyOf } from '#media/storagekey.ts';
import { posterIdOf } from '#media/tasks/processing.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { clip } from './clips.fixture.ts';
import type { ProcessingOrders } from './processing.child.ts';
import { openFiles, uploaded } from './registering.fixture.ts';
import { render } from './videosamples.fixture.ts';

const program = join(import.meta.dirname, 'processing.child.ts');
const embedded = async () => ({ url: 'embedded', drop: async () => undefined });

interface Ending {
  readonly tasks: readonly {
    readonly status: string;
    readonly metadata: { readonly output?: { readonly assetIds: string[] } };
  }[];
  readonly keys: readonly string[];
  readonly assets: readonly {
    readonly asset_id: string;
    readonly storage_key: string;
    readonly ready_at: string | null;
  }[];
  readonly depths: readonly unknown[];
}

for (const { name, missing } of databaseEngines) {
  describe.skipIf(missing || skipWithout('ffmpeg'))(`a process killed at its video, on ${name}`, () => {
    /** The statements are the same on both: every other call tells enough of the second. */
    const step = name === 'postgres' ? 2 : 1;
    let dataDir: string;
    let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
    let bytes: Buffer;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-crash-'));
      bytes = await readFile(await render(clip, dataDir));
      server = await (name === 'postgres' ? createPostgresDatabase() : embedded());
    });
    afterAll(async () => {
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    /** What it printed; `undefined`: it was killed. */
    function run(
      orders: Pick<ProcessingOrders, 'deed' | 'request' | 'killAt' | 'closed'>,
    ): Promise<string | undefined> {
      const all: ProcessingOrders = { databaseUrl: server.url, dataDir, ...orders };
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      execFile(process.execPath, [program, JSON.stringify(all)], (error, stdout) => {
        if (error?.signal === 'SIGKILL') resolve(undefined);
        else if (error) reject(error);
        else resolve(stdout.trim());
      });
      return promise;
    }

    /** One process after the other, each killed at a later call, until one lives. */
    async function killEverywhere(deed: ProcessingOrders['deed'], stride = step) {
      const assets: { readonly assetId: string; readonly key: string; readonly ownerId: string }[] = [];
      for (let killAt = 1; ; killAt += stride) {
        const video = { kind: 'video', mime: 'video/mp4' };
        const { request: image } = await uploaded(openFiles(dataDir), bytes);
        const request = registrationRequest.parse({ ...image, ...video });
        const key = storageKeyOf({ ...request, ownerId: String(request.ownerId) });
        await openFiles(dataDir).put(key, bytes, { contentType: 'video/mp4' });
        await openFiles(dataDir).remove([key.replace(/mp4$/, 'png')]);
        assets.push({ assetId: request.assetId, key, ownerId: String(request.ownerId) });
        if ((await run({ deed, request, killAt })) !== undefined) return assets;
      }
    }

    it('leaves a job that another one finishes, wherever it dies', { timeout: 600_000 }, async () => {
      const tasks = await killEverywhere('task');
      const watermarks = await killEverywhere('watermark');
      expect(tasks.length).toBeGreaterThan(12 / step);
      expect(watermarks.length).toBeGreaterThan(5 / step);
      const ending: Ending = JSON.parse(String(await run({ deed: 'task', request: undefined, killAt: 0 })));
      expect(ending.depths).toEqual([]);
      expect(ending.tasks.map(({ status }) => status)).toEqual(tasks.map(() => 'completed'));
      const outputs = ending.tasks.map(({ metadata }) => metadata.output?.assetIds.join());
      expect(outputs.sort()).toEqual(tasks.map(({ assetId }) => `${assetId},${posterIdOf(assetId)}`).sort());
      const ready = ending.assets.filter(({ ready_at: readyAt }) => readyAt !== null).map(({ asset_id: id }) => id);
      const wanted = [
        ...tasks.flatMap(({ assetId }) => [assetId, posterIdOf(assetId)]),
        ...watermarks.map(({ assetId }) => assetId),
      ];
      expect(ready.sort()).toEqual(wanted.sort());
      // Nothing but the assets' own objects, and the watermarked files.
      const files = [
        ...ending.assets.map(({ storage_key: key }) => key),
        ...watermarks.map(({ key }) => videoWatermarkKeyOf(key)),
      ];
      expect([...ending.keys].sort()).toEqual(files.sort());
    });

    it('leaves nothing of an account that is closed afterwards', { timeout: 600_000 }, async () => {
      const tasks = await killEverywhere('task', 3);
      expect(tasks.length).toBeGreaterThan(4);
      const closed = tasks.map(({ ownerId }) => ownerId);
      const ending: Ending = JSON.parse(String(await run({ deed: 'task', request: undefined, killAt: 0, closed })));
      expect(ending.depths).toEqual([]);
      const assetIds = tasks.flatMap(({ assetId }) => [assetId, posterIdOf(assetId)]);
      const ready = ending.assets.filter(
        ({ ready_at: readyAt, asset_id: id }) => readyAt !== null && assetIds.includes(id),
      );
      expect(ready).toEqual([]);
      // Uploads that were never registered are swept later.
      const keys = ending.keys.filter((key) => closed.some((ownerId) => key.includes(ownerId)));
      expect(keys.filter((key) => !tasks.some((task) => task.key === key))).toEqual([]);
    });
  });
}
