import { setTimeout as sleep } from 'node:timers/promises';
import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import type { Failure, MediaOutput, VideoOutput } from '../api.ts';
import type { AgentContext } from '../context.ts';
import { describeModels, modelFor } from '../generation/catalogue.ts';
import { findRefusal } from '../prompts/screening.ts';
import { ratio } from '../providers/generators.ts';
import { describeVideo, orderVideo } from '../videos/videos.ts';
import { findVideo, type Video } from '../videos/videostore.ts';
import type { ToolContext } from './context.ts';
import { assetName, imagesIn } from './images.ts';

const lookEveryMs = 200;
/** The library derives its JSON schema once. */
const input = zodSchema(
  z.object({
    prompt: z.string().min(1).max(4000),
    ratio: ratio.optional().describe('Default: 16:9.'),
    duration: z.int().min(1).max(600).optional().describe('Seconds. Default: the model decides.'),
    firstFrame: assetName
      .optional()
      .describe('The assetId of an image of this conversation, which the video starts with.'),
    model: z.string().max(128).optional().describe('The id of a model. Default: the first.'),
  }),
);

export function videoTools(deps: AgentContext, context: ToolContext) {
  const { run, writer, plan, media } = context;
  const show = async (output: VideoOutput) => {
    await writer.write({ type: 'data-video', id: output.videoId, data: output });
  };
  const { videos } = deps.catalogue;
  return {
    generateVideo: tool({
      description: `Generates a short video from a description, or from an image and a description. The generation can continue after the answer. ${describeModels(videos, plan, media.videoModel)}`,
      inputSchema: input,
      execute: async (order, { toolCallId, abortSignal }): Promise<MediaOutput> => {
        const { model: name, ...wanted } = order;
        const { firstFrame } = order;
        // Images of other conversations stay hidden here.
        const known = firstFrame && [...imagesIn(await context.findMessages()), ...context.madeImages];
        if (firstFrame && !known?.includes(firstFrame)) return failedWith(noSource);
        const chosen = modelFor(videos, name ?? media.videoModel, { ...wanted, otherwise: [media.ratio, '16:9'] });
        if ('failure' in chosen) return failedWith(chosen.failure);
        const refusal = await findRefusal(deps, run.ownerId, order.prompt, abortSignal);
        if (refusal !== undefined) return failedWith(refusal);
        const ordering = { ...wanted, ratio: chosen.ratio ?? '16:9' };
        const { video, failure } = await orderVideo(deps, run, toolCallId, ordering, chosen.model);
        if (video === undefined) return failedWith(failure);
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

const noSource: Failure = {
  code: 'no_source',
  message: 'There is no such image in this conversation.',
  retryable: false,
};

function failedWith(failure: Failure): MediaOutput {
  return { kind: 'video', assetId: null, status: 'failed', url: null, mime: null, failure };
}

/** The video as it is when it has ended, or after the time that a run waits. Rejects when the signal is aborted. */
export async function waitFor(deps: AgentContext, ordered: Video, signal: AbortSignal | undefined): Promise<Video> {
  const { videoWaitMs = 20_000 } = deps;
  let video = ordered;
  for (const startedAtMs = performance.now(); performance.now() - startedAtMs < videoWaitMs; ) {
    if (video.status === 'completed' || video.status === 'failed') break;
    await sleep(lookEveryMs, undefined, signal && { signal });
    video = (await findVideo(deps.db, ordered.videoId)) ?? video;
  }
  return video;
}
