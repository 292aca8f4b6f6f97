/** Reads messages: as they were stored, with the present state of videos and freshly signed URLs. */
import { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import { createGates } from '#platform/concurrency.ts';
import { invalid } from '#platform/problem.ts';
import type { MessagePaging } from '../api.ts';
import { assetOf } from '../attachments.ts';
import type { AgentContext } from '../context.ts';
import { type SignedMedia, signAll } from '../services/library.ts';
import { assetIdsOf, withUrls } from '../stream/signing.ts';
import { describeVideo } from '../videos/videos.ts';
import { listVideosOfThread, type Video } from '../videos/videostore.ts';
import { checkThread } from './changes.ts';
import { listMessageSizes, listMessages } from './messagestore.ts';

export interface ReadMessage extends Pick<UIMessage, 'id' | 'role' | 'parts'> {
  readonly role: 'user' | 'assistant';
  readonly metadata: Record<string, unknown>;
  /** The owner. */
  readonly resource_id: string;
}

type Part = UIMessage['parts'][number];
type Role = ReadMessage['role'];
type Media = Record<string, unknown> & { readonly kind: 'image' | 'video' };

interface Page {
  readonly from: number;
  readonly to: number;
}

/** A message as it is listed before it is read. */
type Listed = Awaited<ReturnType<typeof listMessageSizes>>[number];

export interface MessagePage {
  readonly messages: readonly ReadMessage[] | Readable;
  /** `before` for the page of older messages; `undefined`: there are none. */
  readonly nextBefore: string | undefined;
}

const defaultLimit = 200;

/** More than this is loaded, signed and written page by page: otherwise one long thread would block the process. */
const pageBytes = 256 * 1024;

/** Pages that are read at once from the threads of one owner: 50 reads of a long thread must not delay other users. */
const turns = createGates({ width: 1, maxWaiting: 1000, waitTimeoutMs: 60_000 });

/**
 * All messages, or a page of them, in ascending order; if they are many bytes, as a stream of the JSON text. Throws 403 for
 * the thread of another user than `userId`, and 400 for an unknown `before`; an unknown thread has no messages. A message
 * that is dropped during the call may be missing, and one that is added is not shown.
 */
export async function readMessages(
  deps: AgentContext,
  userId: string | undefined,
  threadId: string,
  paging: Pick<MessagePaging, 'limit' | 'before'> = {},
): Promise<MessagePage> {
  const ownerId = await checkThread(deps, userId, threadId);
  if (ownerId === undefined) return { messages: [], nextBefore: undefined };
  const sizes = await turns.run(ownerId, () => listMessageSizes(deps.db, threadId));
  const { listed, nextBefore } = cutPage(sizes, paging);
  const [first, ...rest] = pagesOf(listed);
  if (first === undefined) return { messages: [], nextBefore };
  const read = (page: Page) => turns.run(ownerId, () => readPage(deps, threadId, ownerId, page));
  const begin = await read(first);
  if (rest.length === 0) return { messages: begin, nextBefore };
  return { messages: Readable.from(writeAll(begin, rest, read), { highWaterMark: 1 }), nextBefore };
}

function cutPage(all: readonly Listed[], { limit, before }: Pick<MessagePaging, 'limit' | 'before'>) {
  if (limit === undefined && before === undefined) return { listed: all, nextBefore: undefined };
  const end = before === undefined ? all.length : all.findIndex(({ id }) => id === before);
  if (end === -1) throw invalid('querystring.before', 'must be a message of the thread');
  const start = Math.max(0, end - (limit ?? defaultLimit));
  return { listed: all.slice(start, end), nextBefore: start > 0 ? all[start]?.id : undefined };
}

function pagesOf(sizes: readonly Listed[]): readonly Page[] {
  const pages: { from: number; to: number; bytes: number }[] = [];
  for (const { seq, bytes } of sizes) {
    const last = pages.at(-1);
    if (last === undefined || last.bytes + bytes > pageBytes) pages.push({ from: seq, to: seq, bytes });
    else Object.assign(last, { to: seq, bytes: last.bytes + bytes });
  }
  return pages;
}

async function* writeAll(
  begin: readonly ReadMessage[],
  rest: readonly Page[],
  read: (page: Page) => Promise<readonly ReadMessage[]>,
): AsyncGenerator<string> {
  const write = (messages: readonly ReadMessage[]) => JSON.stringify(messages).slice(1, -1);
  let text = write(begin);
  yield `{"messages":[${text}`;
  for (const page of rest) {
    // The embedded database answers without a turn of the event loop.
    await yieldToEventLoop();
    const next = write(await read(page));
    if (text !== '' && next !== '') yield ',';
    if (next !== '') yield next;
    text ||= next;
  }
  yield ']}';
}

async function readPage(
  deps: AgentContext,
  threadId: string,
  ownerId: string,
  page: Page,
): Promise<readonly ReadMessage[]> {
  const stored = await listMessages(deps.db, threadId, page);
  const hasVideo = stored.some(({ role, parts }) => parts.some((part) => mediaOf(role, part)?.kind === 'video'));
  const videos = hasVideo ? await listVideosOfThread(deps.db, threadId) : [];
  const byId = new Map(videos.map((video) => [video.videoId, video]));
  const present = stored.map(({ id, role, parts, metadata, createdAt }) => ({
    id,
    role,
    resource_id: ownerId,
    metadata: { ...withVideoCredits(metadata, videos), createdAt: createdAt.toISOString() },
    parts: parts.map((part) => overlay(role, part, byId)),
  }));
  const signed = await signAll(deps, ownerId, (kind) => assetsIn(present, kind));
  return present.map((message) => ({
    ...message,
    parts: message.parts.map((part) => address(message.role, part, signed)),
  }));
}

/** A video is charged when it is completed or canceled, which may be after the end of its run. */
function withVideoCredits(metadata: Record<string, unknown>, videos: readonly Video[]): Record<string, unknown> {
  const { credits, taskId } = metadata;
  if (typeof credits !== 'number') return metadata;
  const ofTask = videos.filter((video) => video.taskId === taskId);
  return { ...metadata, credits: ofTask.reduce((sum, video) => sum + video.credits, credits) };
}

/** The output of a tool that makes media, and what a `data-video` part shows. A user's message has neither. */
function mediaOf(role: Role, part: Part): Media | undefined {
  if (role === 'user') return undefined;
  const value: unknown =
    part.type === 'data-video' && 'data' in part
      ? part.data
      : part.type.startsWith('tool-') && 'output' in part
        ? part.output
        : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const kind: unknown = Reflect.get(value, 'kind');
  return kind === 'image' || kind === 'video' ? (value as Media) : undefined;
}

function withMedia(part: Part, media: object): Part {
  return (part.type === 'data-video' ? { ...part, data: media } : { ...part, output: media }) as Part;
}

function overlay(role: Role, part: Part, videos: ReadonlyMap<string, Video>): Part {
  const media = mediaOf(role, part);
  const video = media?.kind === 'video' ? videos.get(String(media.videoId)) : undefined;
  if (media === undefined || video === undefined) return part;
  const { failure: past, ...rest } = media;
  const now = describeVideo(video);
  // What a refusal cost and what there was is known only from then.
  const failure = now.failure && { ...(now.attempt === media.attempt ? (past ?? {}) : {}), ...now.failure };
  return withMedia(part, { ...rest, ...now, ...(failure && { failure }) });
}

/** The assets that the messages show. Stored parts can name any, so they are signed with the rights of the thread's owner. */
function assetsIn(messages: readonly Pick<ReadMessage, 'role' | 'parts'>[], kind: 'image' | 'video'): string[] {
  return messages.flatMap(({ role, parts }) =>
    parts.flatMap((part) => {
      const media = mediaOf(role, part);
      if (media?.kind === kind) return assetIdsOf(media);
      return (kind === 'image' ? assetOf(part) : undefined) ?? [];
    }),
  );
}

function address(role: Role, part: Part, signed: ReadonlyMap<string, SignedMedia>): Part {
  const attached = assetOf(part);
  if (attached !== undefined && part.type === 'file') {
    // With the asset's id, a client can send the part again after the signed URL has expired.
    const { url = part.url, thumbUrl } = signed.get(attached) ?? {};
    const atelier = { assetId: attached, ...(thumbUrl && { thumbUrl }) };
    return { ...part, url, providerMetadata: { ...part.providerMetadata, atelier } };
  }
  const media = mediaOf(role, part);
  if (media === undefined) return part;
  return withMedia(part, withUrls(media, signed) ?? { ...media, url: null });
}
