/** The mark of a video in a scratch folder. */
import { appendFile, open, stat } from 'node:fs/promises';
import { movieMark, readMovie } from '#platform/metadata/movie.ts';
import type { Generated } from '#platform/metadata/xmp.ts';

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
