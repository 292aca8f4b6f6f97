/** The URLs of the media in a part or a chunk: signed when they are read, and never stored. */
import type { SignedMedia } from '../services/library.ts';

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
