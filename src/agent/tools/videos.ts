import { setTimeout as sleep } from 'node:timers/promises';
import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import type { MediaOutput, VideoOutput } from '../api.ts';
import { ratio } from '../providers/generators.ts';
import { findVideo, type Video } from '../store/videostore.ts';
import { describeVideo, orderVideo, type VideoDeps } from '../videos/videos.ts';
import type { ToolContext } from './context.ts';

export interface VideoToolDeps extends VideoDeps {
  /** How long a run waits for its video. After that, the client reads the result from the message. */
  readonly videoWaitMs?: number;
}

const lookEveryMs = 200;
/** The library derives its JSON schema once. */
const input = zodSchema(z.object({ prompt: z.string().min(1).max(4000), ratio: ratio.default('16:9') }));

export function videoTools(deps: VideoToolDeps, { run, writer }: ToolContext) {
  const show = async (output: VideoOutput) => {
    await writer.write({ type: 'data-video', id: output.videoId, data: output });
  };
  return {
    generateVideo: tool({
      description: 'Generates a short video from a description. The generation can continue after the answer.',
      inputSchema: input,
      execute: async (order, { toolCallId, abortSignal }): Promise<MediaOutput> => {
        const { video, failure } = await orderVideo(deps, run, toolCallId, order);
        if (video === undefined)
          return { kind: 'video', assetId: null, status: 'failed', url: null, mime: null, failure };
        const ordered = { ...describeVideo(video), ...(failure && { failure }) };
        await show(ordered);
        if (failure !== undefined) return ordered;
        const latest = describeVideo(await waitFor(deps, video, abortSignal));
        await show(latest);
        return latest;
      },
    }),
  };
}

/** The video as it is when it has ended, or after the time that a run waits. Rejects when the signal is aborted. */
export async function waitFor(
  deps: Pick<VideoToolDeps, 'db' | 'videoWaitMs'>,
  ordered: Video,
  signal: AbortSignal | undefined,
): Promise<Video> {
  const { videoWaitMs = 20_000 } = deps;
  let video = ordered;
  for (const startedAtMs = performance.now(); performance.now() - startedAtMs < videoWaitMs; ) {
    if (video.status === 'completed' || video.status === 'failed') break;
    await sleep(lookEveryMs, undefined, signal && { signal });
    video = (await findVideo(deps.db, ordered.videoId)) ?? video;
  }
  return video;
}
