/**
 * A rendition of a video of 720p and 8 s, a usual length of generated ones, from object to object, against bare ffmpeg with
 * the same settings: what the fetching, probing, bounding, reporting and storing around it add. Most of that is the start
 * of ffprobe (0.14 s), whatever the length.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrations } from '../src/app/migrations.ts';
import type { MediaContext } from '../src/media/context.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { makePlayable } from '../src/media/tasks/processing.ts';
import { insertRun } from '../src/media/tasks/taskstore.ts';
import { createFfmpeg } from '../src/media/video/ffmpeg.ts';
import { probeVideo } from '../src/media/video/probing.ts';
import { renderRendition } from '../src/media/video/rendition.ts';
import { download, inScratchFolder } from '../src/media/video/scratch.ts';
import { createLog } from '../src/platform/log.ts';
import { openTestDatabase } from '../test/database.fixture.ts';
import { openFiles } from '../test/media/registering.fixture.ts';
import type { Bench, Row } from './bench.ts';
import { comparePairs, recordArgs } from './ffmpegpairs.ts';

/** Many: the time that ffmpeg takes differs by a tenth from one run to the next. */
const rounds = 15;
const run = promisify(execFile);
const { signal } = new AbortController();
const mime = 'video/x-matroska';

export const rendition: Bench = { run: measure };

async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
  const database = await openTestDatabase(migrations);
  try {
    const file = join(folder, 'source.mkv');
    const inputs = ['testsrc2=size=1280x720:rate=30:duration=8,format=yuv420p', 'sine=duration=8'];
    const sources = inputs.flatMap((source) => ['-f', 'lavfi', '-i', source]);
    await run('ffmpeg', ['-v', 'error', ...sources, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', file]);
    const bare = await argsOf(file, folder);
    const objects = openFiles(folder);
    const ffmpeg = createFfmpeg('ffmpeg');
    await ffmpeg.check();
    const db = database.queries<MediaTables>();
    const deps = { db, objects, ffmpeg, log: createLog({ level: 'silent' }) } as Partial<MediaContext> as MediaContext;
    return await comparePairs(
      { rounds, bound: 1.1, goal: 'rendition of an 8 s video of 720p', against: 'bare ffmpeg, same settings' },
      bare,
      async () => {
        const [taskId, ownerId, assetId] = [randomUUID(), randomUUID(), randomUUID()];
        const storageKey = `u/${assetId}.mkv`;
        const head = await objects.put(storageKey, createReadStream(file), { contentType: mime });
        const task = { taskId, runId: taskId, ownerId, assetId, storageKey, mediaType: 'video', metadata: {} };
        await insertRun(db, { ...task, status: 'pending' });
        return () =>
          inScratchFolder(async (scratch) => {
            const source = join(scratch, 'video');
            await download(objects, storageKey, head, source, signal);
            const video = {
              file: source,
              facts: await probeVideo(ffmpeg, source, signal),
              mark: undefined,
              mime,
              storageKey,
            };
            const { playback } = await makePlayable(deps, task, video, scratch, signal);
            if (playback !== 'rendition') throw new Error('there is no rendition');
          });
      },
    );
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The arguments of the service's own call. */
function argsOf(file: string, folder: string): Promise<readonly string[]> {
  return recordArgs(async (ffmpeg) => {
    const facts = await probeVideo(ffmpeg, file, signal);
    await renderRendition(ffmpeg, { file, facts }, join(folder, 'bare.mp4'), signal);
  });
}
