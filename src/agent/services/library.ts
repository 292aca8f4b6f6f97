/**
 * The user's library in the media service. Generated files become assets of the user in the thread's scope. They are
 * registered and screened like every upload, over the same public interface.
 */
import { createHash } from 'node:crypto';
import { request } from 'undici';
import { z } from 'zod';
import type { Lineage } from '#media/api.ts';
import { readAtMost } from '#platform/http/bodies.ts';
import type { ActingClient } from '#platform/http/client.ts';
import { isUuid } from '#platform/ids.ts';
import type { Log } from '#platform/log.ts';
import { Problem, problems } from '#platform/problem.ts';
import { retry, withDeadline } from '#platform/resilience.ts';
import { currentTraceHeaders } from '#platform/telemetry/trace.ts';
import { outgoingFetch, userAgent } from '#platform/version.ts';

type Made = Omit<Lineage, 'references'> & { readonly references: readonly string[] };

export interface LibraryDeps {
  /** Of the media service, with the internal key. Calls for a user have that user's rights. */
  readonly media: ActingClient;
}

/** The file to store, and its scope. Every attempt with the same `reference` returns the same asset. */
export interface Deposit {
  readonly reference: string;
  readonly ownerId: string;
  readonly threadId: string;
  /** By default, that of the thread. */
  readonly scope?: { readonly kind: string; readonly id: string };
  readonly kind: 'image' | 'video' | 'file';
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly facts?: { readonly width: number; readonly height: number; readonly durationMs: number };
  readonly thumbAssetId?: string;
  /** The user finds the asset by its words. */
  readonly prompt?: string;
  readonly model?: string | undefined;
  /** The mark of everything that a model made or changed. Absent: another program or a person made it. */
  readonly generated?: 'ai' | 'edited';
  /** The order that it was made from. */
  readonly generation?: Made | undefined;
}

/** The media service refuses the file. The message may be shown to the user. */
export class Refused extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** The credits that the file was to be paid with went back. The file was removed. */
export class NotPaid extends Error {}

const uploadTimeoutMs = 60_000;
const maxModelName = 200;
const maxSourceBytes = 64 * 1024 * 1024;

const reservation = z.object({ uploadUrl: z.string(), headers: z.record(z.string(), z.string()) });
const fitted = z.object({ url: z.string() });
const registered = z.object({ assetId: z.string(), mime: z.string() });
const refusal = z.object({ error: z.string(), message: z.string() });
const signed = z.record(
  z.string(),
  z.object({
    ready: z.boolean(),
    url: z.string().optional(),
    thumbUrl: z.string().optional(),
    mime: z.string().optional(),
    byteSize: z.int().optional(),
    generated: z.enum(['ai', 'edited']).nullish(),
    width: z.int().nullish(),
    height: z.int().nullish(),
  }),
);
export type SignedMedia = z.output<typeof signed>[string];

/** Throws Refused (blocked, undecodable, too large), NotPaid, and `engine_unavailable`. */
export async function keep(
  { media }: LibraryDeps,
  deposit: Deposit,
  signal: AbortSignal,
): Promise<{ assetId: string; mime: string }> {
  const { ownerId, kind, mime, bytes, facts, thumbAssetId, prompt, model, generated, generation } = deposit;
  const { kind: scopeKind, id: scopeId } = scopeOf(deposit);
  const identity = { assetId: assetIdOf(deposit.reference), ownerId, scopeKind, scopeId, kind, mime };
  const common = { idempotent: true, onBehalfOf: ownerId, signal } as const;
  const origin = { prompt: prompt && storable(prompt), model: model && storable(model.slice(0, maxModelName)) };
  const json = {
    ...identity,
    ...facts,
    thumbAssetId,
    ...origin,
    generated,
    generation: generation && storableLineage(generation),
  };
  if (mime.startsWith('image/')) {
    const pieces = [Buffer.from(`${JSON.stringify(json)}\n`), bytes];
    const row = await media.send({
      method: 'POST',
      route: '/v1/deposits',
      pieces,
      timeoutMs: uploadTimeoutMs,
      ...common,
    });
    // A media service of the previous version takes uploads only.
    if (row.status !== 404) return registered.parse(accept(row));
  }
  const reserved = await media.send({ method: 'POST', route: '/v1/uploads', json: identity, ...common });
  await upload(reservation.parse(accept(reserved)), bytes, signal);
  const row = await media.send({ method: 'POST', route: '/v1/assets', json, ...common });
  return registered.parse(accept(row));
}

export const scopeOf = ({ scope, threadId }: Pick<Deposit, 'scope' | 'threadId'>) =>
  scope ?? { kind: 'thread', id: threadId };

/** As `keep`, for what a provider was paid for: a slow or busy media service gets more tries, for a minute. */
export function keepMade(deps: LibraryDeps, deposit: Deposit): Promise<{ assetId: string; mime: string }> {
  const untilMs = performance.now() + uploadTimeoutMs;
  const isRetryable = (error: unknown) =>
    error instanceof Problem && error.code === 'engine_unavailable' && performance.now() < untilMs;
  const pace = { attempts: 4, baseDelayMs: 1000, maxDelayMs: 4000 };
  return retry(() => keep(deps, deposit, uninterrupted), { ...pace, isRetryable });
}

/** A deposit that has begun ends as a charged asset or without any trace. */
const uninterrupted = new AbortController().signal;

/** Shows an image of the library as the thumbnail of a video. A video that is gone is left alone. */
export async function setThumb(
  { media }: LibraryDeps,
  ownerId: string,
  assetId: string,
  thumbAssetId: string,
): Promise<void> {
  const call = { params: { assetId }, json: { thumbAssetId }, idempotent: true, onBehalfOf: ownerId } as const;
  await media.send({ method: 'PATCH', route: '/v1/assets/:assetId', ...call });
}

/** Models write prompts with characters that the database cannot store. The image matters more than these. */
const storable = (prompt: string) => prompt.replaceAll('\0', '').toWellFormed() || undefined;

const storableLineage = ({ prompt, ...lineage }: Made): Made => ({ ...lineage, prompt: prompt && storable(prompt) });

/** The body of an answer that is 200 or 201. */
function accept(answer: Awaited<ReturnType<ActingClient['send']>>): unknown {
  if (answer.status === 200 || answer.status === 201) return answer.json();
  const parsed = refusal.safeParse(answer.json());
  const isOfTheFile = [400, 413, 422, 451].includes(answer.status);
  if (parsed.success && parsed.data.error === 'charge_closed') throw new NotPaid(parsed.data.message);
  if (parsed.success && isOfTheFile) throw new Refused(parsed.data.message, answer.status);
  const cause = new Error(`the media service returned ${answer.status}`);
  // 408: it stood still while it read the request.
  throw answer.status === 408 ? problems.engine_unavailable({ cause }) : cause;
}

async function upload(place: z.output<typeof reservation>, bytes: Uint8Array, outer: AbortSignal): Promise<void> {
  const put = async (signal: AbortSignal) => {
    const headers = { 'user-agent': userAgent, ...currentTraceHeaders(), ...place.headers };
    // `fetch` would copy the bytes.
    const { statusCode: status, body } = await request(place.uploadUrl, {
      method: 'PUT',
      headers,
      body: bytes,
      signal,
    });
    await body.dump();
    if (status === 413) throw new Refused('The file is too large.', 413);
    // 412: an earlier try put it there (docs/specification/media.md#uploads).
    if (status >= 300 && status !== 412) throw new Error(`an upload returned ${status}`);
  };
  await withDeadline(uploadTimeoutMs, put, outer).catch((cause: unknown) => {
    outer.throwIfAborted();
    if (cause instanceof Refused) throw cause;
    throw problems.engine_unavailable({ cause });
  });
}

/**
 * URLs of the assets that the user may read; all others are missing. A ref that is no UUID names a file of the legacy
 * backend, which no message part may do.
 */
export async function sign(
  { media }: LibraryDeps,
  userId: string,
  kind: 'image' | 'video',
  assetIds: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, SignedMedia>> {
  const answers = await Promise.all(
    inLotsOf(200, [...new Set(assetIds.filter(isUuid))]).map(async (refs) => {
      const call = { json: { refs }, idempotent: true, onBehalfOf: userId, ...(signal && { signal }) } as const;
      const answer =
        kind === 'image'
          ? await media.send({ ...call, method: 'POST', route: '/v1/sign/image' })
          : await media.send({ ...call, method: 'POST', route: '/v1/sign/video' });
      return answer.status === 200 ? Object.entries(signed.parse(answer.json())) : [];
    }),
  );
  return new Map(answers.flat().filter(([, { ready }]) => ready));
}

/** Images and videos together (as `sign`). Never rejects: if the media service does not respond, there are no URLs. */
export async function signAll(
  deps: LibraryDeps & { readonly log: Log },
  userId: string,
  idsOf: (kind: 'image' | 'video') => readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, SignedMedia>> {
  try {
    const [images, videos] = await Promise.all([
      sign(deps, userId, 'image', idsOf('image'), signal),
      sign(deps, userId, 'video', idsOf('video'), signal),
    ]);
    return new Map([...images, ...videos]);
  } catch (error) {
    deps.log.warn({ err: error }, 'media are returned without URLs');
    return new Map();
  }
}

const listed = z.object({
  assets: z.array(
    z.object({
      assetId: z.string(),
      kind: z.string(),
      mime: z.string(),
      width: z.int().nullable(),
      height: z.int().nullable(),
      durationMs: z.int().nullable(),
      createdAt: z.string(),
    }),
  ),
  nextCursor: z.string().nullable(),
});
export type ListedAssets = z.output<typeof listed>;

/** The user's assets, newest first. Throws Refused for a wrong cursor, and `engine_unavailable`. */
export async function listLibrary(
  { media }: LibraryDeps,
  userId: string,
  query: { readonly limit: number; readonly cursor?: string | undefined; readonly kind?: string | undefined },
  signal: AbortSignal,
): Promise<ListedAssets> {
  const wanted = { ...query, cursor: query.cursor || undefined };
  const answer = await media.send({ method: 'GET', route: '/v1/assets', query: wanted, onBehalfOf: userId, signal });
  return listed.parse(accept(answer));
}

/** An image of the library. `generated`: the mark of an edit of it. */
export interface SourceImage {
  readonly bytes: Uint8Array;
  readonly mime: string;
  readonly generated: 'ai' | 'edited';
}

/** The bytes of an image, for a provider that edits it. */
export async function fetchImage(
  deps: LibraryDeps,
  userId: string,
  assetId: string,
  outer: AbortSignal,
): Promise<SourceImage | undefined> {
  const media = (await sign(deps, userId, 'image', [assetId])).get(assetId);
  const { url, mime } = media ?? {};
  // An edit of what a model made is the model's too.
  const generated = media?.generated === 'ai' ? 'ai' : 'edited';
  if (url === undefined || !mime?.startsWith('image/')) return undefined;
  const bytes = await download(url, maxSourceBytes, outer).catch((cause: unknown) => {
    outer.throwIfAborted();
    throw problems.engine_unavailable({ cause });
  });
  return { bytes, mime, generated };
}

/** The longest side of images that models get, in pixels. */
const modelSide = 1568;
const maxModelImageBytes = 8 * 1024 * 1024;

/**
 * A scaled JPEG of an image, for a model; with `exact`, cropped to that size. `undefined` if the user may not read the asset, or it
 * shows no image.
 */
export async function fetchScaledImage(
  { media }: LibraryDeps,
  userId: string,
  assetId: string,
  outer: AbortSignal,
  exact?: { readonly width: number; readonly height: number },
): Promise<{ bytes: Uint8Array; mime: string } | undefined> {
  const size = { width: modelSide, height: modelSide, ...exact };
  const json = { ref: assetId, ...size, ...(exact && { resizingType: 'fill', enlarge: true }), format: 'jpeg' };
  const call = { json, idempotent: true, onBehalfOf: userId, signal: outer } as const;
  const answer = await media.send({ ...call, method: 'POST', route: '/v1/fit' });
  if (answer.status !== 200) return undefined;
  const { url } = fitted.parse(answer.json());
  return { bytes: await download(url, maxModelImageBytes, outer), mime: 'image/jpeg' };
}

/** The bytes of an asset of at most `maxBytes`. `undefined` if the user may not read it, or it is larger. */
export async function fetchFile(
  deps: LibraryDeps,
  userId: string,
  assetId: string,
  maxBytes: number,
  outer: AbortSignal,
): Promise<{ bytes: Uint8Array; mime: string } | undefined> {
  const { url, mime, byteSize = 0 } = (await sign(deps, userId, 'image', [assetId])).get(assetId) ?? {};
  if (url === undefined || mime === undefined || byteSize > maxBytes) return undefined;
  return { bytes: await download(url, maxBytes, outer), mime };
}

async function download(url: string, maxBytes: number, outer: AbortSignal): Promise<Uint8Array> {
  const get = async (signal: AbortSignal) => {
    const answer = await outgoingFetch(url, { headers: currentTraceHeaders(), signal });
    if (!answer.ok) throw new Error(`a download returned ${answer.status}`);
    return readAtMost(answer.body ?? [], maxBytes, () => new Error(`the file is larger than ${maxBytes} bytes`));
  };
  return withDeadline(uploadTimeoutMs, get, outer);
}

/** Which of the assets the user may not read, and whether that is because they do not exist. Throws `engine_unavailable`. */
export async function findUnreadable(
  { media }: LibraryDeps,
  userId: string,
  assetIds: readonly string[],
): Promise<{ readonly absent: readonly string[]; readonly foreign: readonly string[] }> {
  const findMissing = async (refs: readonly string[], onBehalfOf: string | null) => {
    const json = { refs };
    const answer = await media.send({ method: 'POST', route: '/v1/sign/image', json, idempotent: true, onBehalfOf });
    if (answer.status !== 200)
      throw problems.engine_unavailable({ cause: new Error(`media returned ${answer.status}`) });
    const found = signed.parse(answer.json());
    return refs.filter((ref) => !found[ref]?.ready);
  };
  const unreadable = await findMissing(assetIds, userId);
  if (unreadable.length === 0) return { absent: [], foreign: [] };
  // Called as a server, only to distinguish another user's asset from an unknown one. The URLs are not used.
  const absent = await findMissing(unreadable, null);
  return { absent, foreign: unreadable.filter((assetId) => !absent.includes(assetId)) };
}

/** Deletes what the thread made and what was uploaded to it. Throws `engine_unavailable`. */
export async function deleteThreadAssets(
  { media }: LibraryDeps,
  userId: string,
  threadId: string,
  timeoutMs: number,
): Promise<void> {
  const json = { ownerId: userId, scopeKind: 'thread', scopeId: threadId };
  const answer = await media.send({ method: 'DELETE', route: '/v1/scope', json, onBehalfOf: userId, timeoutMs });
  if (answer.status !== 200) throw problems.engine_unavailable({ cause: new Error(`media returned ${answer.status}`) });
}

/** Ends the public page of a thread. Throws `engine_unavailable`. */
export async function endShares({ media }: LibraryDeps, ownerId: string, threadId: string): Promise<void> {
  const json = { ownerId, threadId };
  const answer = await media.send({ method: 'DELETE', route: '/v1/shares', json, onBehalfOf: null });
  if (answer.status !== 204) throw problems.engine_unavailable({ cause: new Error(`media returned ${answer.status}`) });
}

/** A UUID made of what the asset is of (RFC 9562 §5.8). */
export function assetIdOf(reference: string): string {
  const hex = createHash('sha256').update(`atelier agent ${reference}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

function inLotsOf<T>(size: number, items: readonly T[]): readonly T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, lot) => items.slice(lot * size, (lot + 1) * size));
}

// Recognizes URLs that the media service has signed: clients send them back in messages.

/** A storage key within the path of a signed URL (docs/specification/media.md#storage-keys). */
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const storageKey = new RegExp(`/u/${uuid}/[A-Za-z0-9_-]{1,64}/[A-Za-z0-9_-]{1,128}/(${uuid})[.]`);
/** Longer than any signed URL. */
const maxUrlLength = 8192;

/** `bases`: where the edge, the object store and imgproxy serve files. The function returns the asset's id. */
export function createOwnUrls(bases: readonly string[]): (url: string) => string | undefined {
  const hosts = bases.filter((base) => URL.canParse(base)).map((base) => new URL(base).host);
  return (text) => {
    if (text.length > maxUrlLength || !/^https?:/i.test(text) || !URL.canParse(text)) return undefined;
    const { host, pathname } = new URL(text);
    // A bucket may be a subdomain of the object store.
    if (!hosts.some((own) => host === own || host.endsWith(`.${own}`))) return undefined;
    return storageKey.exec(decodePath(pathname))?.[1];
  };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
