/**
 * Orders the poster, size and duration of a clip from the media service, which examines it in a job of its own. Generators of
 * most providers supply none of them (docs/specification/agent.md#clips).
 */
import { z } from 'zod';
import type { AgentContext } from '../context.ts';

/** A clip in the library. */
export interface StoredClip {
  readonly assetId: string;
  readonly ownerId: string;
  readonly threadId: string;
  /** By default, that of the thread. */
  readonly scope?: { readonly kind: string; readonly id: string };
  /** As it was uploaded. */
  readonly mime: string;
}

const refusal = z.object({ error: z.string() });

/** The clip is delivered in any case, so failures are logged only. May be repeated. */
export async function examineClip({ media, log }: AgentContext, clip: StoredClip, signal: AbortSignal): Promise<void> {
  const { assetId, ownerId, threadId, mime } = clip;
  const { kind: scopeKind, id: scopeId } = clip.scope ?? { kind: 'thread', id: threadId };
  const json = { assetId, ownerId, scopeKind, scopeId, threadId, mime };
  const call = { json, onBehalfOf: ownerId, idempotent: true, signal } as const;
  try {
    const response = await media.send({ method: 'POST', route: '/v1/media-tasks/video', ...call });
    if (response.status === 200) return;
    const reason = refusal.safeParse(response.json());
    const code = reason.success ? reason.data.error : response.status;
    throw new Error(code === 'ffmpeg_missing' ? 'ffmpeg is not installed' : `the media service returned ${code}`);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, assetId }, 'could not add poster, size and duration to a clip');
  }
}
