/**
 * Shares of assets, conversations and collections (docs/specification/media.md#shares). A share is a row; its page is rendered by the edge from
 * the view that this module returns. Deleting the asset deletes the row, so a share never outlives what it shows.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isDecodable } from '#image/engine/formats.ts';
import { preview, thumbnail } from '#image/engine/specs.ts';
import type { Caller } from '#platform/access/caller.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { transaction } from '#platform/db/db.ts';
import { isForeignKeyViolation } from '#platform/db/errors.ts';
import { readCursor, writeCursor } from '#platform/db/paging.ts';
import type { ActingClient } from '#platform/http/client.ts';
import { isUuid } from '#platform/ids.ts';
import { MovieTooComplex } from '#platform/metadata/movie.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { invalid, problems } from '#platform/problem.ts';
import { searchWords } from '#platform/storable.ts';
import type { StoredAsset } from '../assets/assetstore.ts';
import { ownerFor } from '../assets/ownership.ts';
import { cleanKeyOf, renditionKeyOf, renditionMime } from '../assets/storagekey.ts';
import { listCollections } from '../collections/collectionstore.ts';
import type { MediaContext } from '../context.ts';
import { headsAtOnce, lookUpRow, type ResolvedAsset, sourceOf } from '../lookup/assetlookup.ts';
import { planRewriting } from '../metadata/rewriting.ts';
import { mediaProblems, noSuchAsset } from '../problems.ts';
import { findThumbs } from '../signing/thumbstore.ts';
import { collectionOf, keyOfCollection, type Snapshot, type SnapshotMessage, type SnapshotPart } from '../tables.ts';
import type * as api from './api.ts';
import * as store from './sharestore.ts';

/** 128 bits: 22 characters. */
const idBytes = 16;
/** Of the gallery's URLs. */
const addressValidS = 600;
const addressStepS = 300;

/** Throws 400 (not exactly one id; empty collection; server without `ownerId`), 403 and 404 (what is not the owner's), 413 and 503. */
export async function shareIt(
  deps: MediaContext,
  caller: Caller,
  request: api.ShareRequest,
): Promise<{ readonly share: api.Share; readonly isNew: boolean }> {
  const ownerId = ownerFor(caller, request.ownerId);
  const { assetId, collectionId, expiresIn = null, showPrompt = false, index = false, attachments = false } = request;
  const author = request.author?.trim() ?? null;
  const threadId = collectionId === undefined ? String(request.threadId) : keyOfCollection(collectionId);
  const snapshot = () =>
    collectionId === undefined
      ? takeSnapshot(deps.agent, ownerId, threadId, attachments)
      : listMedia(deps, ownerId, collectionId);
  if (assetId !== undefined) await assertOwn(deps, ownerId, assetId);
  else if (await store.isThreadRestricted(deps.db, ownerId, threadId)) throw mediaProblems.content_restricted();
  const target: store.NewShare['target'] =
    assetId !== undefined ? { assetId } : { threadId, snapshot: await snapshot() };
  const id = randomBytes(idBytes).toString('base64url');
  const options = { expiresInS: expiresIn, showPrompt, index, attachments, author };
  try {
    const { isNew, ...row } = await transaction(deps.db, async (tx) => {
      if (assetId === undefined) await store.holdShare(tx, ownerId, threadId);
      // Restricted while the snapshot was taken.
      if (assetId === undefined && (await store.isThreadRestricted(tx, ownerId, threadId)))
        throw mediaProblems.content_restricted();
      return store.putShare(tx, { id, ownerId, target, ...options }, request.update === true);
    });
    return { share: toShare(deps, row), isNew };
  } catch (error) {
    // Deleted since.
    if (isForeignKeyViolation(error)) throw noSuchAsset();
    throw error;
  }
}

async function assertOwn({ db }: MediaContext, ownerId: string, assetId: string): Promise<void> {
  const [asset] = await findThumbs(db, [assetId]);
  if (asset === undefined || !asset.isReady) throw noSuchAsset();
  if (asset.ownerId !== ownerId) throw problems.forbidden({ message: 'The asset belongs to another user.' });
  if (asset.scopeKind === '') throw mediaProblems.content_restricted();
  if (!/^(image|video)\//.test(asset.mime)) throw invalid('body.assetId', 'must be an image or a video');
}

const toShare = ({ edgeUrl }: MediaContext, { ownerId: _ownerId, ...row }: store.StoredShare): api.Share => ({
  ...row,
  url: `${edgeUrl}/s/${row.id}`,
  threadId: collectionOf(row.threadId) === null ? row.threadId : null,
  collectionId: collectionOf(row.threadId),
  items: row.assetId === null ? row.items : 1,
  createdAt: row.createdAt.toISOString(),
  shownAt: row.shownAt.toISOString(),
  expiresAt: row.expiresAt?.toISOString() ?? null,
});

/** Throws 400 (invalid cursor; server without `ownerId`) and 403. */
export async function readShares(deps: MediaContext, caller: Caller, query: api.ShareListing): Promise<api.SharePage> {
  const ownerId = ownerFor(caller, query.ownerId, 'querystring.ownerId');
  const after =
    query.cursor === undefined ? undefined : readCursor(query.cursor, 'nextCursor', (id) => /^[\w-]{22,64}$/.test(id));
  const { limit, copies, assetId, collectionId } = query;
  const threadId = collectionId === undefined ? query.threadId : keyOfCollection(collectionId);
  const filter = { ownerId, assetId, threadId, withoutCopies: copies === 'false' };
  const rows = await store.listShares(deps.db, filter, after, limit + 1);
  const page = rows.slice(0, limit);
  return {
    shares: page.map(({ createdAtUs: _createdAtUs, ...row }) => toShare(deps, row)),
    nextCursor: writeCursor(rows.length > limit ? page.at(-1) : undefined),
  };
}

/** Throws 404 for a share that does not exist, or of another user. */
export async function endShare({ db }: MediaContext, caller: Caller, id: string): Promise<void> {
  const ownerId = await store.findOwnerOfShare(db, id);
  if (ownerId === undefined || (caller.kind === 'user' && caller.userId !== ownerId)) throw noSuchShare();
  await store.dropShare(db, id);
}

const noSuchShare = () => problems.not_found({ message: 'There is no such share.' });

/** The data of a page. Throws 404 for a share that ended. */
export async function readShareData(deps: MediaContext, id: string): Promise<api.ShareData> {
  const share = await store.findShare(deps.db, id);
  if (share === undefined) throw noSuchShare();
  const { ownerId, assetId, snapshot, showPrompt, index, author } = share;
  const collectionId = collectionOf(share.threadId);
  const messages = snapshot?.messages ?? [];
  const named = [...new Set(assetId === null ? mediaOf(messages) : [assetId])];
  const rows =
    named.length === 0 ? [] : await store.findShownAssets(deps.db, ownerId, named, collectionId ?? undefined);
  const found = await showRows(deps, rows, showPrompt);
  const media = [...found.values()].map((one) => ({ ...one, place: named.indexOf(one.assetId) }));
  const [first] = media;
  // A collection without its last image, too.
  if ((assetId !== null || collectionId !== null) && first === undefined) throw noSuchShare();
  const marks = media.map(({ generated }) => generated);
  const [album] = collectionId === null ? [] : await listCollections(deps.db, { ownerId, collectionId });
  const cover = album?.coverAssetId ?? '';
  const positions = new Map([...found.keys()].map((one, position) => [one, position]));
  return {
    id,
    kind: collectionId !== null ? 'album' : assetId === null || first === undefined ? 'thread' : first.kind,
    title: snapshot?.title ?? null,
    author,
    generated: marks.find((mark) => mark === 'ai') ?? marks.find((mark) => mark !== null) ?? null,
    index,
    createdAt: share.createdAt.toISOString(),
    // One that was added later is not public.
    cover: found.has(cover) ? cover : null,
    media,
    messages: messages.map(({ role, parts }) => ({
      role,
      parts: parts.flatMap((part, place): api.SharedMessage['parts'] => {
        if (part.type !== 'media') return [part];
        const position = positions.get(part.assetId);
        const isFirst = !parts.slice(0, place).some((one) => one.type === 'media' && one.assetId === part.assetId);
        // Deleted since, or a video that is in the output of its tool and in a part of its own.
        return position === undefined || !isFirst ? [] : [{ type: 'media', index: position }];
      }),
    })),
  };
}

const mediaOf = (messages: Snapshot['messages']): readonly string[] =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'media' ? [part.assetId] : [])));

/** By asset. Those whose bytes are gone, and images that cannot be decoded, are absent. */
async function showRows(
  deps: MediaContext,
  rows: readonly store.ShownAsset[],
  showsPrompt: boolean,
): Promise<ReadonlyMap<string, Omit<api.SharedMedia, 'place'>>> {
  const thumbIds = rows.flatMap(({ namedThumbId }) => namedThumbId ?? []);
  const thumbs = new Map(
    thumbIds.length === 0 ? [] : (await findThumbs(deps.db, thumbIds)).map((thumb) => [thumb.assetId, thumb]),
  );
  const found = await mapConcurrently(rows, headsAtOnce, async (row) => {
    const thumb = thumbs.get(row.namedThumbId ?? '');
    const isShown = thumb?.isReady === true && thumb.scopeKind !== '';
    const ownThumb = isShown && thumb.ownerId === row.ownerId ? thumb : undefined;
    const shown = await showRow(deps, row, ownThumb);
    return shown === undefined ? [] : [[row.assetId, { ...shown, prompt: showsPrompt ? row.prompt : null }] as const];
  });
  return new Map(found.flat());
}

type Thumb = Awaited<ReturnType<typeof findThumbs>>[number];

async function showRow(
  deps: MediaContext,
  row: store.ShownAsset,
  thumb: Thumb | undefined,
): Promise<Omit<api.SharedMedia, 'place' | 'prompt'> | undefined> {
  const resolved = await lookUpRow(deps, row);
  if (resolved === undefined) return undefined;
  const { assetId, width, height, blurhash, mime, storageKey } = row;
  const facts = { assetId, width, height, blurhash, mime, generated: row.generated };
  if (mime.startsWith('image/'))
    return isDecodable(mime) ? { ...facts, kind: 'image', picture: objectOf(resolved), file: null } : undefined;
  const poster = thumb && isDecodable(thumb.mime) ? await lookUpRow(deps, thumb) : undefined;
  const original = objectOf(resolved);
  const video = { ...facts, kind: 'video', picture: poster ? objectOf(poster) : null } as const;
  if (row.playback === 'rendition')
    return { ...video, file: { ...original, key: renditionKeyOf(storageKey), etag: null, mime: renditionMime } };
  const key = deps.limits.stripMetadata === 'none' ? storageKey : await sharedFileOf(resolved.objects, row);
  if (key === undefined) return undefined;
  return { ...video, file: key === storageKey ? original : { ...original, key, etag: null } };
}

function objectOf(resolved: ResolvedAsset) {
  const { bucket, key, etag } = sourceOf(resolved);
  return { bucket, key, etag: etag ?? null, mime: resolved.mime };
}

/** Throws 400 for a cursor that no page returned. */
export async function readGallery(deps: MediaContext, query: api.GalleryListing): Promise<api.GalleryPage> {
  const { q = '', limit, cursor, sort } = query;
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rows = await store.listFeed(deps.db, query, searchWords(q).slice(0, 10), after, limit + 1);
  const page = rows.slice(0, limit);
  // Counts change while one reads, so the most remixed have one page.
  const last = rows.length > limit && sort !== 'remixed' ? page.at(-1) : undefined;
  const media = await showRows(deps, page, true);
  const expiresAtS = expiryOf(deps.clock.now());
  return {
    items: page.flatMap((row) => {
      const one = media.get(row.assetId);
      if (one === undefined) return [];
      const { picture, file: _file, mime: _mime, prompt, ...item } = one;
      const variant = (spec: typeof thumbnail | typeof preview) =>
        picture && deps.resizeAddress({ ...picture, etag: picture.etag ?? undefined }, { ...spec, expiresAtS }, 'webp');
      return [
        {
          ...item,
          thumbUrl: variant(thumbnail),
          previewUrl: variant(preview),
          prompt: row.showsPrompt ? prompt : null,
          author: row.author,
          remixes: row.remixes,
          publishedAt: row.createdAt.toISOString(),
        },
      ];
    }),
    next_cursor: writeCursor(last && { ...last, id: last.assetId }),
  };
}

/** URLs of the gallery end soon after what they show has left it. In steps, so that caches hold one variant of a page. */
function expiryOf(nowMs: number): number {
  return Math.ceil((nowMs / 1000 + addressValidS) / addressStepS) * addressStepS;
}

/** For sitemaps, oldest first. */
export async function readIndexedShares({ db }: MediaContext, after: string | undefined, limit: number) {
  const rows = await store.listIndexedShares(db, after, limit);
  return { shares: rows.map(({ id, updatedAt }) => ({ id, updatedAt: updatedAt.toISOString() })) };
}

// The file that people other than its owner get, where the owner's original keeps its metadata.

/**
 * Returns the key of the file without metadata, which is made first if it is missing: the original itself if it has none.
 * It is removed with its source. `undefined`: the source was removed or replaced.
 */
async function sharedFileOf(
  objects: Objects,
  asset: Pick<StoredAsset, 'storageKey' | 'etag' | 'mime' | 'byteSize' | 'generated'>,
): Promise<string | undefined> {
  const { storageKey, etag, mime, byteSize, generated } = asset;
  const key = cleanKeyOf(storageKey);
  if ((await objects.head(key)) !== undefined) return key;
  // Files from before marks existed get theirs here.
  const wanted = { strips: true, mark: generated ?? undefined };
  const plan = await planRewriting(objects, storageKey, { etag, size: byteSize }, wanted).catch((error: unknown) => {
    // Not shown rather than shown with its metadata.
    if (error instanceof MovieTooComplex) return undefined;
    throw error;
  });
  if (plan === undefined) return undefined;
  if (plan.write === undefined) return storageKey;
  await plan.write(objects, key, mime);
  // A deletion from before has not seen the file.
  if ((await objects.head(storageKey))?.etag === etag) return key;
  await objects.remove([key]);
  return undefined;
}

// A conversation as it is shared: texts, sources, and the images and videos of its owner. Nothing else of it is public.

/** Of the snapshot as JSON. Longer conversations cannot be shared. */
const maxBytes = 4 * 1024 * 1024;
const maxMedia = 500;

const part = z.looseObject({ type: z.string() });
const answer = z.object({
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), parts: z.array(part) })),
});
const thread = z.object({ title: z.string().nullish() });

/**
 * Reads the conversation with the rights of its owner. Throws 403 for a thread of another user, 404 for an unknown one, 413
 * `payload_too_large`, and 503.
 */
async function takeSnapshot(
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

/** Throws 400 for a collection without images and videos, 404 for one that is not the owner's, and 413. */
async function listMedia({ db }: MediaContext, ownerId: string, collectionId: string): Promise<Snapshot> {
  const [found] = await listCollections(db, { ownerId, collectionId });
  if (found === undefined) throw problems.not_found({ message: 'There is no such collection.' });
  const assetIds = await store.listMediaOf(db, ownerId, collectionId, maxMedia + 1);
  if (assetIds.length === 0) throw invalid('body.collectionId', 'must have images or videos');
  if (assetIds.length > maxMedia)
    throw problems.payload_too_large({ message: `A shared album has at most ${maxMedia} images and videos.` });
  return { title: found.title, messages: [{ role: 'assistant', parts: mediaParts(assetIds) }] };
}

type Part = z.output<typeof part>;

/** Inputs of tools, their other outputs, reasoning and memories are not shown. */
function partsOf(role: 'user' | 'assistant', given: Part, withAttachments: boolean): readonly SnapshotPart[] {
  const { type, text, url, title } = given;
  if (type === 'text') return typeof text === 'string' && text !== '' ? [{ type, text }] : [];
  if (type === 'file') return role === 'user' && !withAttachments ? [] : mediaParts([assetIdOfFile(given)]);
  if (role === 'user') return [];
  if (type === 'source-url' && typeof url === 'string' && /^https?:/.test(url))
    return [{ type: 'source', url, title: typeof title === 'string' ? title : url }];
  const made: unknown = type === 'data-video' ? given.data : type.startsWith('tool-') ? given.output : undefined;
  const { kind, assetId, assetIds } = Object(made) as Readonly<Record<string, unknown>>;
  if (kind !== 'image' && kind !== 'video') return [];
  return mediaParts(Array.isArray(assetIds) ? assetIds : [assetId]);
}

const mediaParts = (assetIds: readonly unknown[]): readonly SnapshotPart[] =>
  assetIds.flatMap((assetId) =>
    typeof assetId === 'string' && isUuid(assetId) ? [{ type: 'media' as const, assetId: assetId.toLowerCase() }] : [],
  );

function assetIdOfFile({ providerMetadata }: Part): unknown {
  const { atelier } = Object(providerMetadata) as Readonly<Record<string, unknown>>;
  return (Object(atelier) as Readonly<Record<string, unknown>>).assetId;
}
