/** Signs the media in frames for one reader, as they are signed when messages are read. The log stores events without URLs. */
import type { Log } from '#platform/log.ts';
import { type LibraryDeps, type SignedMedia, signAll } from '../services/library.ts';

/** Signs with the rights of the owner of the run. Never rejects. */
export type SignFrames = (ownerId: string, frames: readonly string[]) => Promise<readonly string[]>;

interface Media extends Record<string, unknown> {
  readonly kind: 'image' | 'video';
  readonly assetId: string;
}

interface MediaChunk {
  readonly chunk: Record<string, unknown>;
  readonly field: 'output' | 'data';
  readonly media: Media;
}

/** A slow media service delays a stream by at most this. */
const signingMs = 3000;

/** Quotes within texts are escaped, so only a field of this name matches. */
export const hasAsset = (event: string): boolean => event.includes('"assetId":"');

/** If the media service does not answer, the frames have no URLs, as messages then. */
export function createFrameSigner(deps: LibraryDeps & { readonly log: Log }): SignFrames {
  return async (ownerId, frames) => {
    const found = frames.map((frame) => (hasAsset(frame) ? mediaIn(frame) : undefined));
    const idsOf = (kind: Media['kind']) =>
      found.flatMap((each) => (each?.media.kind === kind ? assetIdsOf(each.media) : []));
    const signed = await signAll(deps, ownerId, idsOf, AbortSignal.timeout(signingMs));
    return frames.map((frame, index) => {
      const each = found[index];
      const addressed = each && withUrls(each.media, signed);
      return each === undefined || addressed === undefined ? frame : withMedia(frame, each, addressed);
    });
  };
}

const dataPrefix = '\ndata: ';

function mediaIn(frame: string): MediaChunk | undefined {
  const chunk = JSON.parse(frame.slice(frame.indexOf(dataPrefix) + dataPrefix.length)) as Record<string, unknown>;
  const { type, dynamic } = chunk;
  const field =
    type === 'data-video' ? 'data' : type === 'tool-output-available' && dynamic !== true ? 'output' : undefined;
  if (field === undefined) return undefined;
  const media = Object(chunk[field]) as Partial<Media>;
  const isMedia = (media.kind === 'image' || media.kind === 'video') && typeof media.assetId === 'string';
  return isMedia ? { chunk, field, media: media as Media } : undefined;
}

function withMedia(frame: string, { chunk, field }: MediaChunk, media: object): string {
  const addressed = { ...chunk, [field]: media };
  return `${frame.slice(0, frame.indexOf(dataPrefix))}${dataPrefix}${JSON.stringify(addressed)}\n\n`;
}

// The URLs of the media in a part or a chunk: signed when they are read, and never stored.

type Fields = Readonly<Record<string, unknown>>;

/** The asset, and all assets of a tool that made several. */
export function assetIdsOf({ assetId, assetIds }: Fields): readonly string[] {
  const all = [assetId, ...(Array.isArray(assetIds) ? assetIds : [])];
  return [...new Set(all.filter((id) => typeof id === 'string'))];
}

/** `undefined`: the asset is not readable. */
export function withUrls(media: Fields, signed: ReadonlyMap<string, SignedMedia>): Fields | undefined {
  const { assetId, assetIds } = media;
  const found = typeof assetId === 'string' ? signed.get(assetId) : undefined;
  if (found === undefined) return undefined;
  const { url = null, mime = media.mime, thumbUrl } = found;
  const images = Array.isArray(assetIds) && { images: assetIds.map((id) => imageOf(String(id), signed)) };
  return { ...media, url, mime, ...(thumbUrl && { thumbUrl }), ...images };
}

function imageOf(assetId: string, signed: ReadonlyMap<string, SignedMedia>) {
  const { url = null, mime = null, thumbUrl } = signed.get(assetId) ?? {};
  return { assetId, url, mime, ...(thumbUrl && { thumbUrl }) };
}
