/** The rendition of an uploaded video, made by its job (docs/specification/media.md#renditions). */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startInterval } from '#platform/background/interval.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Generated } from '#platform/metadata/xmp.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { Playback } from '../assets/assetstore.ts';
import { renditionKeyOf, renditionMime } from '../assets/storagekey.ts';
import { type Ffmpeg, VideoFault, type VideoFaultReason } from '../video/ffmpeg.ts';
import { appendMark } from '../video/marking.ts';
import { isPlayable } from '../video/playback.ts';
import type { VideoFacts } from '../video/probing.ts';
import { renderRendition } from '../video/rendition.ts';
import { RunCancelled } from './ending.ts';
import { advanceRun, type TaskTables } from './taskstore.ts';

export interface RenditionDeps {
  readonly taskDb: Db<TaskTables>;
  readonly objects: Objects;
  readonly ffmpeg: Ffmpeg;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds between two writes of the progress; 2000 by default. */
  readonly progressEveryMs?: number;
}

interface Run {
  readonly taskId: string;
  readonly runId: string;
}

interface DownloadedVideo {
  readonly file: string;
  readonly facts: VideoFacts;
  readonly mark: Generated | undefined;
  readonly mime: string;
  readonly storageKey: string;
}

export interface Playing {
  readonly playback: Playback | null;
  /** Why there is no rendition. */
  readonly fault?: VideoFaultReason;
}

/**
 * Stores a rendition, if browsers do not play the video. A rendition that cannot be made is no failure of the task: the
 * video is what the user uploaded. Throws RunCancelled as soon as the task is deleted or canceled, and errors after
 * which another attempt can succeed.
 */
export async function makePlayable(
  deps: RenditionDeps,
  run: Run,
  video: DownloadedVideo,
  folder: string,
  signal: AbortSignal,
): Promise<Playing> {
  const { file, facts, mark, mime, storageKey } = video;
  if (await isPlayable(file, facts, mime)) return { playback: 'original' };
  const into = join(folder, 'rendition.mp4');
  try {
    await withProgress(deps, run, signal, (stopped, report) =>
      renderRendition(deps.ffmpeg, { file, facts }, into, stopped, report),
    );
  } catch (error) {
    if (!(error instanceof VideoFault)) throw error;
    deps.log.warn({ err: error, taskId: run.taskId }, 'a video has no rendition');
    return { playback: null, fault: error.reason };
  }
  await appendMark(into, mark);
  const { size } = await stat(into);
  signal.throwIfAborted();
  await deps.objects.put(renditionKeyOf(storageKey), createReadStream(into), { contentType: renditionMime, size });
  return { playback: 'rendition' };
}

/** Writes the progress to the task from time to time, and stops the work if the task was deleted or canceled. */
async function withProgress(
  { taskDb, log, progressEveryMs = 2000 }: RenditionDeps,
  run: Run,
  signal: AbortSignal,
  work: (stopped: AbortSignal, report: (percent: number) => void) => Promise<void>,
): Promise<void> {
  const cancelled = new AbortController();
  let progress = 0;
  const write = async () => {
    if (!(await advanceRun(taskDb, run, 'processing', { progress }))) cancelled.abort(new RunCancelled());
  };
  await write();
  const writing = startInterval(progressEveryMs, write, (err) =>
    log.warn({ err }, 'could not write the progress of a video task'),
  );
  try {
    await work(AbortSignal.any([signal, cancelled.signal]), (percent) => {
      progress = percent;
    });
  } finally {
    await writing.stop();
  }
}
