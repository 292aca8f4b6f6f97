import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registrationRequest } from '#media/api.ts';
import { renditionKeyOf, storageKeyOf, watermarkKeyOf } from '#media/assets/storagekey.ts';
import { longVideoQueue } from '#media/tasks/processing.ts';
import { longWatermarkQueue } from '#media/watermarks/videowatermark.ts';
import { onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import type { ProcessingOrders } from './processing.child.ts';
import { openFiles, uploaded } from './registering.fixture.ts';

const program = join(import.meta.dirname, 'processing.child.ts');

interface Ending {
  readonly tasks: readonly { readonly status: string }[];
  readonly keys: readonly string[];
  readonly longJobs: readonly {
    readonly queue: string;
    readonly status: string;
    readonly payload: { readonly assetId?: string; readonly storageKey?: string };
  }[];
  readonly depths: readonly unknown[];
}

onEveryDatabase(
  'a process killed while a long video moves to the queue of long ones',
  (rig) => {
    let samples: string;
    let bytes: Buffer;
    beforeAll(async () => {
      samples = await mkdtemp(join(tmpdir(), 'atelier-samples-'));
      const file = join(samples, 'long.mkv');
      const source = 'color=red:size=64x64:rate=1:duration=62';
      await promisify(execFile)('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, '-c:v', 'mpeg4', file]);
      bytes = await readFile(file);
    });
    afterAll(() => rm(samples, { recursive: true, force: true }));

    /** An uploaded video. */
    async function prepare() {
      const files = openFiles(rig.dataDir);
      const { request: image, storageKey } = await uploaded(files, bytes);
      await files.remove([storageKey]);
      const request = registrationRequest.parse({ ...image, kind: 'video', mime: 'video/mp4' });
      const key = storageKeyOf({ ...request, ownerId: String(request.ownerId) });
      await files.put(key, bytes, { contentType: 'video/mp4' });
      return { request, key };
    }

    it.each<[ProcessingOrders['deed'], string, (key: string) => string]>([
      ['task', longVideoQueue.name, renditionKeyOf],
      ['watermark', longWatermarkQueue.name, (key) => watermarkKeyOf('video', key, '')],
    ])('leaves one job and one result: %s', { timeout: 600_000 }, async (deed, queue, madeKeyOf) => {
      const run = (orders: object, killAt: number) => rig.run(program, { deed, killAt, isMove: true, ...orders });
      const { killed, lived } = await rig.killAtSteps(prepare, ({ request }, killAt) => run({ request }, killAt));
      const end = await run({}, 0);
      const ending: Ending = JSON.parse(String(end?.outcome));
      const videos = [...killed, ...lived];
      expect(ending.depths).toEqual([]);
      expect(ending.tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
      const moved = ending.longJobs.filter((job) => job.queue === queue);
      expect(moved.map(({ status }) => status)).toEqual(videos.map(() => 'done'));
      const placeOf = ({ payload }: (typeof moved)[number]) => payload.assetId ?? payload.storageKey;
      const places = videos.map(({ request, key }) => (deed === 'task' ? request.assetId : key));
      expect(moved.map(placeOf).sort()).toEqual(places.sort());
      const made = videos.map(({ key }) => madeKeyOf(key));
      expect(ending.keys.filter((key) => made.includes(key)).sort()).toEqual(made.sort());
    });
  },
  { skip: skipWithout('ffmpeg') },
);
