import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registrationRequest } from '#media/api.ts';
import { renditionKeyOf, storageKeyOf, videoWatermarkKeyOf } from '#media/assets/storagekey.ts';
import { posterIdOf } from '#media/tasks/processing.ts';
import { onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import type { ProcessingOrders } from './processing.child.ts';
import { openFiles, uploaded } from './registering.fixture.ts';
import { matroskaClip } from './renditionsamples.fixture.ts';
import { render } from './videosamples.fixture.ts';

const program = join(import.meta.dirname, 'processing.child.ts');

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

onEveryDatabase(
  'a process killed at its video',
  (rig) => {
    let samples: string;
    let bytes: Buffer;
    beforeAll(async () => {
      samples = await mkdtemp(join(tmpdir(), 'atelier-samples-'));
      bytes = await readFile(await render(matroskaClip, samples));
    });
    afterAll(() => rm(samples, { recursive: true, force: true }));

    /** An uploaded video. */
    async function prepare() {
      const files = openFiles(rig.dataDir);
      const { request: image, storageKey } = await uploaded(files, bytes);
      await files.remove([storageKey]);
      const request = registrationRequest.parse({ ...image, kind: 'video', mime: 'video/mp4' });
      const ownerId = String(request.ownerId);
      const key = storageKeyOf({ ...request, ownerId });
      await files.put(key, bytes, { contentType: 'video/mp4' });
      return { request, assetId: request.assetId, key, ownerId };
    }

    async function killEverywhere(deed: ProcessingOrders['deed']) {
      const { killed, lived } = await rig.killAtSteps(prepare, ({ request }, killAt) =>
        rig.run(program, { deed, request, killAt }),
      );
      return [...killed, ...lived];
    }

    /** Another process finishes what is left, after the accounts of `closed` were closed. */
    async function finish(closed: readonly string[] = []): Promise<Ending> {
      const end = await rig.run(program, { deed: 'task', killAt: 0, closed });
      return JSON.parse(String(end?.outcome));
    }

    it('leaves a job that another one finishes, wherever it dies', { timeout: 600_000 }, async () => {
      const tasks = await killEverywhere('task');
      const watermarks = await killEverywhere('watermark');
      const ending = await finish();
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
      // Nothing but the assets' own objects, the renditions, and the watermarked files.
      const files = [
        ...ending.assets.map(({ storage_key: key }) => key),
        ...tasks.map(({ key }) => renditionKeyOf(key)),
        ...watermarks.map(({ key }) => videoWatermarkKeyOf(key)),
      ];
      expect([...ending.keys].sort()).toEqual(files.sort());
    });

    it('leaves nothing of an account that is closed later', { timeout: 600_000 }, async () => {
      const tasks = await killEverywhere('task');
      const closed = tasks.map(({ ownerId }) => ownerId);
      const ending = await finish(closed);
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
  },
  { skip: skipWithout('ffmpeg') },
);
