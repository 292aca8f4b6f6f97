/** Folders for files that ffmpeg reads and writes. The next start removes the folders of a killed process. */
import { createWriteStream } from 'node:fs';
import { appendFile, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { movieMark, readMovie } from '#platform/metadata/movie.ts';
import type { Generated } from '#platform/metadata/xmp.ts';
import { ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { watching } from '../reading/unchanged.ts';

const named = /^atelier-video-(\d+)-/;

/** Creates a folder that only this user can read, and removes it when `work` has ended. */
export async function inScratchFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), `atelier-video-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes folders of processes that have ended. Folders of other system users stay. */
export async function removeAbandonedScratch(folder = tmpdir()): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = named.exec(name)?.[1];
    if (pid !== undefined && !(await isInUse(join(folder, name), Number(pid))))
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** In a container every process has the pid of the one before it, so our own pid does not identify an older folder. */
async function isInUse(path: string, pid: number): Promise<boolean> {
  if (pid !== process.pid) return isAlive(pid);
  const startedAtMs = Date.now() - process.uptime() * 1000;
  return ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0) >= startedAtMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Writes exactly the object that `head` describes to a file and passes its chunks to `onChunk`. `false`: it was removed or replaced. */
export async function download(
  objects: Pick<Objects, 'get'>,
  key: string,
  head: ObjectHead,
  file: string,
  signal: AbortSignal,
  onChunk: (chunk: Buffer) => void = () => undefined,
): Promise<boolean> {
  try {
    const body = await objects.get(key, { ifMatch: head.etag, signal });
    if (body === undefined) return false;
    const watch = (chunks: AsyncIterable<Buffer>) => watching(chunks, onChunk);
    await pipeline(body.stream, watch, createWriteStream(file), { signal });
    return true;
  } catch (error) {
    if (error instanceof ObjectChanged) return false;
    throw error;
  }
}

// The mark of a video in such a folder.

export async function markOfFile(file: string): Promise<Generated | undefined> {
  const { size } = await stat(file);
  const handle = await open(file);
  try {
    const read = async (start: number, end: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
      return buffer.subarray(0, bytesRead);
    };
    return (await readMovie(read, size, 'mark')).mark;
  } finally {
    await handle.close();
  }
}

/** For an MP4 that ffmpeg wrote: another box can follow. */
export async function appendMark(file: string, mark: Generated | undefined): Promise<void> {
  if (mark !== undefined) await appendFile(file, movieMark(mark));
}
