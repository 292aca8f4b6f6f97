/** A conversation as it is shared: texts, sources, and the images and videos of its owner. Nothing else of it is public. */
import { z } from 'zod';
import type { ActingClient } from '#platform/http/client.ts';
import { problems } from '#platform/problem.ts';
import { isUuid } from '../refs.ts';
import type { Snapshot, SnapshotMessage, SnapshotPart } from '../tables.ts';

/** Of the snapshot as JSON. Longer conversations cannot be shared. */
const maxBytes = 4 * 1024 * 1024;
export const maxMedia = 500;

const part = z.looseObject({ type: z.string() });
const answer = z.object({
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), parts: z.array(part) })),
});
const thread = z.object({ title: z.string().nullish() });

/**
 * Reads the conversation with the rights of its owner. Throws 403 for a thread of another user, 404 for an unknown one, 413
 * `payload_too_large`, and 503.
 */
export async function takeSnapshot(
  agent: ActingClient,
  ownerId: string,
  threadId: string,
  withAttachments: boolean,
): Promise<Snapshot> {
  const call = { params: { threadId }, onBehalfOf: ownerId } as const;
  const found = await agent.send({ method: 'GET', route: '/threads/:threadId', ...call });
  if (found.status === 403) throw problems.forbidden({ message: 'The conversation belongs to another user.' });
  if (found.status === 404) throw problems.not_found({ message: 'There is no such conversation.' });
  const read = await agent.send({ method: 'GET', route: '/messages/:threadId', ...call });
  for (const { status } of [found, read])
    if (status !== 200) throw problems.engine_unavailable({ cause: new Error(`the agent service returned ${status}`) });
  const { messages } = answer.parse(read.json());
  const shown = messages.flatMap(({ role, parts }): readonly SnapshotMessage[] => {
    const kept = parts.flatMap((each) => partsOf(role, each, withAttachments));
    return kept.length === 0 ? [] : [{ role, parts: kept }];
  });
  const snapshot = { title: thread.parse(found.json()).title ?? null, messages: shown };
  const mediaCount = shown.flatMap(({ parts }) => parts).filter(({ type }) => type === 'media').length;
  if (mediaCount > maxMedia || Buffer.byteLength(JSON.stringify(snapshot)) > maxBytes)
    throw problems.payload_too_large({
      message: `A shared conversation has at most ${maxMedia} images and videos, and ${maxBytes} bytes of text.`,
    });
  return snapshot;
}

type Part = z.output<typeof part>;

/** Inputs of tools, their other outputs, reasoning and memories are not shown. */
function partsOf(role: 'user' | 'assistant', given: Part, withAttachments: boolean): readonly SnapshotPart[] {
  const { type, text, url, title } = given;
  if (type === 'text') return typeof text === 'string' && text !== '' ? [{ type, text }] : [];
  if (type === 'file') return role === 'user' && !withAttachments ? [] : mediaOf([assetIdOfFile(given)]);
  if (role === 'user') return [];
  if (type === 'source-url' && typeof url === 'string' && /^https?:/.test(url))
    return [{ type: 'source', url, title: typeof title === 'string' ? title : url }];
  const made: unknown = type === 'data-video' ? given.data : type.startsWith('tool-') ? given.output : undefined;
  const { kind, assetId, assetIds } = Object(made) as Readonly<Record<string, unknown>>;
  if (kind !== 'image' && kind !== 'video') return [];
  return mediaOf(Array.isArray(assetIds) ? assetIds : [assetId]);
}

const mediaOf = (assetIds: readonly unknown[]): readonly SnapshotPart[] =>
  assetIds.flatMap((assetId) =>
    typeof assetId === 'string' && isUuid(assetId) ? [{ type: 'media' as const, assetId: assetId.toLowerCase() }] : [],
  );

function assetIdOfFile({ providerMetadata }: Part): unknown {
  const { atelier } = Object(providerMetadata) as Readonly<Record<string, unknown>>;
  return (Object(atelier) as Readonly<Record<string, unknown>>).assetId;
}
