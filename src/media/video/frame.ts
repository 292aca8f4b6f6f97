/** A frame of a stored video, for its screening. */
import { join } from 'node:path';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { mediaProblems } from '../problems.ts';
import { type Ffmpeg, VideoFault } from './ffmpeg.ts';
import { takePoster } from './poster.ts';
import { probeVideo } from './probing.ts';
import { download, inScratchFolder } from './scratch.ts';

/** Below the 30 s that the agent waits for a registration. */
const withinMs = 20_000;

/** Returns a JPEG. `undefined`: the video was replaced, has no frame, or ffmpeg is not installed. Throws 503. */
export function frameOf(
  { objects, ffmpeg }: { readonly objects: Pick<Objects, 'get'>; readonly ffmpeg: Ffmpeg },
  storageKey: string,
  head: ObjectHead,
): Promise<Uint8Array | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  return inScratchFolder(async (folder) => {
    const file = join(folder, 'video');
    try {
      await ffmpeg.check();
      if (!(await download(objects, storageKey, head, file, signal))) return undefined;
      const facts = await probeVideo(ffmpeg, file, signal);
      return await takePoster(ffmpeg, { file, facts }, join(folder, 'frame.jpg'), signal);
    } catch (error) {
      const isOfTheVideo = error instanceof VideoFault || (error instanceof Problem && error.code === 'ffmpeg_missing');
      if (isOfTheVideo) return undefined;
      throw error instanceof Problem ? error : mediaProblems.screening_unavailable({ cause: error });
    }
  });
}
