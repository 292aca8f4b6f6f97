/** `generate_video`: ordered and paid for as in a run. A video that takes longer than the call is finished by its job. */
import { randomUUID } from 'node:crypto';
import { ensureProfile } from '#accounts/store.ts';
import { type Db, transaction } from '#platform/db/db.ts';
import { videoAssetId } from '../billing/references.ts';
import { starts } from '../billing/starts.ts';
import { modelFor, type VideoModel } from '../generation/catalogue.ts';
import type { Ratio } from '../providers/generators.ts';
import { sign } from '../services/library.ts';
import { endCall } from '../store/toolcallstore.ts';
import type { Video, VideoInput, VideoTables } from '../store/videostore.ts';
import { placeOrder, type VideoDeps } from '../videos/videos.ts';
import { admitCall, type CallDeps, type CallTables, type McpCalls, threadOf, usageModel } from './calls.ts';
import { assertOwn } from './images.ts';
import { linkTo, succeed, ToolFailed } from './results.ts';

export interface VideoCallDeps extends VideoDeps, CallDeps {
  readonly db: Db<VideoTables & CallTables>;
  readonly calls: McpCalls;
  readonly videoWaitMs?: number | undefined;
}

export interface VideoCall {
  readonly prompt: string;
  readonly ratio?: Ratio | undefined;
  readonly duration?: number | undefined;
  /** An asset. */
  readonly firstFrame?: string | undefined;
  readonly model?: string | undefined;
}

const progressEveryMs = 2000;

export async function generateVideo(
  deps: VideoCallDeps,
  userId: string,
  input: VideoCall,
  onProgress: (message: string) => void,
) {
  const callId = randomUUID();
  const { model: name, ...wanted } = input;
  const chosen = modelFor(deps.catalogue.videos, name, { ...wanted, otherwise: ['16:9'] });
  if ('failure' in chosen) throw new ToolFailed(chosen.failure.code, chosen.failure.message);
  if (input.firstFrame !== undefined) await assertOwn(deps, userId, [input.firstFrame]);
  await deps.prompts.assertAllowed(userId, [input.prompt]);
  const { model, ratio = '16:9' } = chosen;
  const ordered = await order(deps, callId, userId, model, { ...wanted, ratio });
  return deps.calls.track(async (signal) => {
    const telling = setInterval(() => onProgress('The video is being generated.'), progressEveryMs);
    try {
      const { db, videoWaitMs } = deps;
      const { waitFor } = await import('../tools/videos.ts');
      const waiting = waitFor({ db, ...(videoWaitMs !== undefined && { videoWaitMs }) }, ordered, signal);
      // The video is ordered and paid for, so the result names it, whatever ends the wait.
      const video = await waiting.catch((error: unknown) => {
        deps.log.warn({ err: error }, 'could not wait for a video that was ordered over MCP');
        return ordered;
      });
      return await describe(deps, userId, video);
    } finally {
      clearInterval(telling);
      await transaction(deps.db, (tx) => endCall(tx, callId)).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'a finished tool call is ended when it expires'),
      );
    }
  });
}

/** An order that cannot be paid for leaves nothing behind. */
function order(deps: VideoCallDeps, callId: string, userId: string, model: VideoModel, input: VideoInput) {
  const place = () =>
    transaction(deps.db, async (tx) => {
      await ensureProfile(tx, { id: userId }, deps.welcome);
      const { video, failure } = await placeOrder(deps, tx, {
        ownerId: userId,
        threadId: threadOf(userId),
        taskId: callId,
        messageId: callId,
        toolCallId: callId,
        model: usageModel,
        mediaModel: model.id,
        price: model.credits,
        origin: 'mcp',
        input,
      });
      if (failure !== undefined) throw new ToolFailed(failure.code, failure.message);
      await admitCall(deps, tx, callId, userId);
      return video;
    });
  return starts.run(userId, place);
}

async function describe(deps: VideoCallDeps, userId: string, video: Video) {
  const { price: credits } = video;
  const { videoId, status, failureCode, failureMessage } = video;
  if (status === 'failed')
    throw new ToolFailed(failureCode ?? 'provider_failed', failureMessage ?? 'The video could not be generated.');
  const assetId = video.assetId ?? videoAssetId(videoId);
  if (status !== 'completed') {
    const text = `The video is still being generated. Its assetId will be ${assetId}. Once it is ready, list_assets returns it.`;
    return succeed(text, { status: 'processing', videoId, assetId, mime: 'video/mp4', url: null, credits });
  }
  const signed = await sign(deps, userId, 'video', [assetId]).catch(() => undefined);
  const { url, mime = 'video/mp4' } = signed?.get(assetId) ?? {};
  const data = { status: 'completed', videoId, assetId, mime, url: url ?? null, credits };
  return succeed(`The video is in the library. assetId: ${assetId}`, data, url ? [linkTo(url, assetId, mime)] : []);
}
