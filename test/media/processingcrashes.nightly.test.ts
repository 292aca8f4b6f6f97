import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RegistrationRequest, registrationRequest } from '#media/api.ts';
import { posterIdOf } from '#media/assets/asset.ts';
import { renditionKeyOf, storageKeyOf, watermarkKeyOf } from '#media/assets/storagekey.ts';
import { type Deaths, onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import type { ProcessingOrders } from './processing.child.ts';
import { openFiles, uploaded } from './registering.fixture.ts';
import { matroskaClip } from './renditionsamples.fixture.ts';
import { render } from './videosamples.fixture.ts';

const program = join(import.meta.dirname, 'processing.child.ts');

interface Prepared {
  readonly request: RegistrationRequest;
  readonly assetId: string;
  readonly key: string;
  readonly ownerId: string;
}

interface Ending {
  readonly tasks: readonly {
    readonly owner_id: string;
    readonly status: string;
    readonly metadata: { readonly output?: { readonly assetIds: string[] } };
  }[];
  readonly keys: readonly string[];
  readonly assets: readonly {
    readonly asset_id: string;
    readonly owner_id: string;
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
    let tasks: readonly Prepared[];
    let watermarks: readonly Prepared[];
    /** Videos of accounts that are closed before another process finishes what is left. */
    let closing: readonly Prepared[];
    let closed: readonly string[];
    let ending: Ending;
    beforeAll(async () => {
      samples = await mkdtemp(join(tmpdir(), 'atelier-samples-'));
      bytes = await readFile(await render(matroskaClip, samples));
      const killed = await killEverywhere('task');
      [tasks, watermarks] = [all(killed), all(await killEverywhere('watermark'))];
      closing = all(await killEverywhere('task', killed.calls));
      closed = closing.map(({ ownerId }) => ownerId);
      const end = await rig.run(program, { deed: 'task', killAt: 0, closed });
      ending = JSON.parse(String(end?.outcome));
    }, 600_000);
    afterAll(() => rm(samples, { recursive: true, force: true }));

    /** An uploaded video. */
    async function prepare(): Promise<Prepared> {
      const files = openFiles(rig.dataDir);
      const { request: image, storageKey } = await uploaded(files, bytes);
      await files.remove([storageKey]);
      const request = registrationRequest.parse({ ...image, kind: 'video', mime: 'video/mp4' });
      const ownerId = String(request.ownerId);
      const key = storageKeyOf({ ...request, ownerId });
      await files.put(key, bytes, { contentType: 'video/mp4' });
      return { request, assetId: request.assetId, key, ownerId };
    }

    const killEverywhere = (deed: ProcessingOrders['deed'], calls?: number) =>
      rig.killAtSteps(prepare, ({ request }, killAt) => rig.run(program, { deed, request, killAt }), calls);
    const all = ({ killed, lived }: Deaths<Prepared>) => [...killed, ...lived];

    it('leaves a job that another process completes, at any step', () => {
      expect(ending.depths).toEqual([]);
      const keeps = <Row extends { readonly owner_id: string }>(rows: readonly Row[]) =>
        rows.filter(({ owner_id: ownerId }) => !closed.includes(ownerId));
      expect(keeps(ending.tasks).map(({ status }) => status)).toEqual(tasks.map(() => 'completed'));
      const outputs = keeps(ending.tasks).map(({ metadata }) => metadata.output?.assetIds.join());
      expect(outputs.sort()).toEqual(tasks.map(({ assetId }) => `${assetId},${posterIdOf(assetId)}`).sort());
      const kept = keeps(ending.assets);
      const ready = kept.filter(({ ready_at: readyAt }) => readyAt !== null).map(({ asset_id: id }) => id);
      const wanted = [
        ...tasks.flatMap(({ assetId }) => [assetId, posterIdOf(assetId)]),
        ...watermarks.map(({ assetId }) => assetId),
      ];
      expect(ready.sort()).toEqual(wanted.sort());
      // Nothing but the assets' own objects, the renditions, and the watermarked files.
      const files = [
        ...kept.map(({ storage_key: key }) => key),
        ...tasks.map(({ key }) => renditionKeyOf(key)),
        ...watermarks.map(({ key }) => watermarkKeyOf('video', key, '')),
      ];
      const keys = ending.keys.filter((key) => !closed.some((ownerId) => key.includes(ownerId)));
      expect(keys.sort()).toEqual(files.sort());
    });

    it('leaves nothing of an account that is deleted later', () => {
      const assetIds = closing.flatMap(({ assetId }) => [assetId, posterIdOf(assetId)]);
      const ready = ending.assets.filter(
        ({ ready_at: readyAt, asset_id: id }) => readyAt !== null && assetIds.includes(id),
      );
      expect(ready).toEqual([]);
      // Uploads that were never registered are swept later.
      const keys = ending.keys.filter((key) => closed.some((ownerId) => key.includes(ownerId)));
      expect(keys.filter((key) => !closing.some((task) => task.key === key))).toEqual([]);
    });
  },
  { skip: skipWithout('ffmpeg') },
);
