/**
 * Watermarking a 3 s video of 720p, from object to object, against bare ffmpeg with the same filter and the same options:
 * what the fetching, probing, bounding and storing around it add.
 */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrations } from '../src/app/migrations.ts';
import { defaultBrand } from '../src/image/engine/brand.ts';
import type { MediaContext } from '../src/media/context.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { brandVideo } from '../src/media/video/branding.ts';
import { createFfmpeg } from '../src/media/video/ffmpeg.ts';
import { probeVideo } from '../src/media/video/probing.ts';
import { makeVideoWatermark, type WatermarkJob } from '../src/media/watermarks/videowatermark.ts';
import type { Job } from '../src/platform/jobs/jobs.ts';
import { openTestDatabase } from '../test/database.fixture.ts';
import { openFiles } from '../test/media/registering.fixture.ts';
import type { Bench, Row } from './bench.ts';
import { comparePairs, recordArgs } from './ffmpegpairs.ts';

/** Many: what ffmpeg takes differs by a tenth from one run to the next. */
const rounds = 31;
const run = promisify(execFile);
const { signal } = new AbortController();

export const videoWatermark: Bench = { run: measure };

async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
  const database = await openTestDatabase(migrations);
  try {
    const file = join(folder, 'source.mp4');
    const inputs = ['testsrc2=size=1280x720:rate=30:duration=3,format=yuv420p', 'sine=duration=3'];
    const sources = inputs.flatMap((source) => ['-f', 'lavfi', '-i', source]);
    await run('ffmpeg', ['-v', 'error', ...sources, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', file]);
    const bare = await argsOf(file, folder);
    const objects = openFiles(folder);
    const ffmpeg = createFfmpeg('ffmpeg');
    await ffmpeg.check();

    return await comparePairs(
      { rounds, bound: 1.1, goal: 'watermark of a 3 s video of 720p', against: 'bare ffmpeg, same filter' },
      bare,
      async () => {
        const storageKey = `u/${randomUUID()}.mp4`;
        await objects.put(storageKey, createReadStream(file), { contentType: 'video/mp4' });
        const job = jobOf({ backend: 'objects', bucket: objects.bucket, storageKey });
        const deps = {
          objects,
          legacy: { bucket: () => undefined },
          ffmpeg,
          db: database.queries<MediaTables>(),
          brand: defaultBrand,
        } as Partial<MediaContext> as MediaContext;
        return () => makeVideoWatermark(deps, job);
      },
    );
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The arguments of the service's own call. The mark is written to its file. */
function argsOf(file: string, folder: string): Promise<readonly string[]> {
  return recordArgs(async (ffmpeg) => {
    const facts = await probeVideo(ffmpeg, file, signal);
    await brandVideo(
      ffmpeg,
      defaultBrand,
      { file, facts },
      { mark: join(folder, 'mark'), into: join(folder, 'bare.mp4') },
      signal,
    );
  });
}

function jobOf(payload: WatermarkJob): Job<WatermarkJob> {
  const complete = async () => undefined;
  return {
    jobId: randomUUID(),
    payload,
    attempt: 1,
    isLastAttempt: true,
    signal,
    complete,
    completeBy: complete,
    move: complete,
    postpone: complete,
  };
}
