/** Reads messages: as they were stored, with the present state of videos and freshly signed URLs. */
import { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { assetOf } from '../attachments.ts';
import { videoCost } from '../billing/prices.ts';
import { type LibraryDeps, type SignedMedia, sign } from '../services/library.ts';
import { listMessageSizes, listMessages } from '../store/messagestore.ts';
import type { RunTables } from '../store/runstore.ts';
import { listVideosOfThread, type Video, type VideoTables } from '../store/videostore.ts';
import { describeVideo } from '../videos/videos.ts';
import { checkThread } from './access.ts';

export interface MessagesDeps extends LibraryDeps {
  readonly db: Db<RunTables & VideoTables>;
  readonly log: Log;
}

export interface ReadMessage extends Pick<UIMessage, 'id' | 'role' | 'parts'> {
  readonly role: 'user' | 'assistant';
  readonly metadata: Record<string, unknown>;
}

type Part = UIMessage['parts'][number];
type Role = ReadMessage['role'];
type Media = Record<string, unknown> & { readonly kind: 'image' | 'video' };

interface Page {
  readonly from: number;
  readonly to: number;
}

/** More than this is loaded, signed and written page by page: otherwise one long thread would block the process. */
const pageBytes = 256 * 1024;

/**
 * Returns messages in ascending order, a thread of several pages as a stream of JSON text. Throws 403 for another
 * user's thread; an unknown thread has no messages. Messages that are deleted in the meantime may be missing, and added
 * ones are omitted.
 */
export async function readMessages(
  deps: MessagesDeps,
  caller: Caller,
  threadId: string,
): Promise<readonly ReadMessage[] | Readable> {
  const ownerId = await checkThread(deps, caller, threadId);
  if (ownerId === undefined) return [];
  const [first, ...rest] = pagesOf(await listMessageSizes(deps.db, threadId));
  if (first === undefined) return [];
  const read = (page: Page) => readPage(deps, threadId, ownerId, page);
  const begin = await read(first);
  if (rest.length === 0) return begin;
  return Readable.from(writeAll(begin, rest, read), { highWaterMark: 1 });
}

function pagesOf(sizes: readonly { readonly seq: number; readonly bytes: number }[]): readonly Page[] {
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
  deps: MessagesDeps,
  threadId: string,
  ownerId: string,
  page: Page,
): Promise<readonly ReadMessage[]> {
  const stored = await listMessages(deps.db, threadId, page);
  const hasVideo = stored.some(({ role, parts }) => parts.some((part) => mediaOf(role, part)?.kind === 'video'));
  const videos = hasVideo ? await listVideosOfThread(deps.db, threadId) : [];
  const byId = new Map(videos.map((video) => [video.videoId, video]));
  const present = stored.map(({ id, role, parts, metadata }) => ({
    id,
    role,
    metadata: withVideoCredits(metadata, videos),
    parts: parts.map((part) => overlay(role, part, byId)),
  }));
  const signed = await signAll(deps, ownerId, present);
  return present.map((message) => ({
    ...message,
    parts: message.parts.map((part) => address(message.role, part, signed)),
  }));
}

/** A video is charged when it is completed, which may be after the end of its run. */
function withVideoCredits(metadata: Record<string, unknown>, videos: readonly Video[]): Record<string, unknown> {
  const { credits, taskId } = metadata;
  if (typeof credits !== 'number') return metadata;
  const completed = videos.filter((video) => video.taskId === taskId && video.status === 'completed');
  return { ...metadata, credits: credits + completed.length * videoCost };
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
  const { failure: _past, ...rest } = media;
  const now = describeVideo(video);
  // What a refusal cost and what there was is known only from then.
  const failure = now.failure && { ...(now.attempt === media.attempt ? (_past ?? {}) : {}), ...now.failure };
  return withMedia(part, { ...rest, ...now, ...(failure && { failure }) });
}

/**
 * Signs with the rights of the thread's owner, because stored parts can name anything. If the media service does not
 * answer, the messages have no URLs.
 */
async function signAll(
  deps: MessagesDeps,
  ownerId: string,
  messages: readonly Pick<ReadMessage, 'role' | 'parts'>[],
): Promise<ReadonlyMap<string, SignedMedia>> {
  const idsOf = (kind: 'image' | 'video') =>
    messages.flatMap(({ role, parts }) =>
      parts.flatMap((part) => {
        const media = mediaOf(role, part);
        const assetId = media?.kind === kind ? media.assetId : kind === 'image' ? assetOf(part) : undefined;
        return typeof assetId === 'string' ? [assetId] : [];
      }),
    );
  try {
    const [images, videos] = await Promise.all([
      sign(deps, ownerId, 'image', idsOf('image')),
      sign(deps, ownerId, 'video', idsOf('video')),
    ]);
    return new Map([...images, ...videos]);
  } catch (error) {
    deps.log.warn({ err: error }, 'messages are read without addresses of their media');
    return new Map();
  }
}

function address(role: Role, part: Part, signed: ReadonlyMap<string, SignedMedia>): Part {
  const attached = assetOf(part);
  if (attached !== undefined && part.type === 'file') {
    // With the asset's id, a client can send the part again after the signed URL has expired.
    const providerMetadata = { ...part.providerMetadata, atelier: { assetId: attached } };
    return { ...part, url: signed.get(attached)?.url ?? part.url, providerMetadata };
  }
  const media = mediaOf(role, part);
  if (media === undefined) return part;
  const found = typeof media.assetId === 'string' ? signed.get(media.assetId) : undefined;
  if (found === undefined) return withMedia(part, { ...media, url: null });
  const { url = null, mime = media.mime, thumbUrl } = found;
  return withMedia(part, { ...media, url, mime, ...(thumbUrl && { thumbUrl }) });
}
