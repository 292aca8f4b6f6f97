/** The key of the bytes of an asset: `u/<owner>/<scope kind>/<scope id>/<asset>.<ext>` (docs/specification/media.md#storage-keys). */
import mimeTypes from 'mime';
import { uuidSource } from '#platform/ids.ts';
import extensions from './extensions.json' with { type: 'json' };

export interface StorageKeyParts {
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly assetId: string;
  /** Lower case, without parameters. The requested mime, not the detected one, because the key must stay where the bytes are. */
  readonly mime: string;
}

/** Every part has passed its schema in api.ts: UUIDs in lower case, scopes of `[A-Za-z0-9_-]`. */
export function storageKeyOf(parts: StorageKeyParts): string {
  const { ownerId, scopeKind, scopeId, assetId, mime } = parts;
  return `u/${ownerId}/${scopeKind}/${scopeId}/${assetId}.${extensionOf(mime)}`;
}

/**
 * The key of a watermark, next to its source (docs/specification/media.md#watermarks). `brandId`: of `brandIdOf`, so that
 * another brand has other files.
 */
export function watermarkKeyOf(type: 'image' | 'video', storageKey: string, brandId: string): string {
  return `${storageKey}.wm${brandId && `-${brandId}`}.${type === 'image' ? 'jpg' : 'mp4'}`;
}

/** Of the watermarks of all brands. */
const watermarkEnd = /\.wm(?:-[0-9a-f]{12})?\.(?:jpg|mp4)$/;

/** The suffix of a rendition, which is next to its video (docs/specification/media.md#renditions). */
const renditionSuffix = '.play.mp4';

/** The suffix of the file without metadata that shares show (metadata/sharedfile.ts). */
const cleanSuffix = '.clean';

export function cleanKeyOf(storageKey: string): string {
  return storageKey + cleanSuffix;
}

export const renditionMime = 'video/mp4';

export function renditionKeyOf(storageKey: string): string {
  return storageKey + renditionSuffix;
}

/** Legacy files have no renditions: a file with such a name belongs to another system. */
type Backend = 'objects' | 'legacy';

/** What the keys of all files that are made of a source and stored next to it begin with. */
export function derivativeStartOf(backend: Backend, storageKey: string): string {
  // Nothing else begins with the key of an object, but legacy files can.
  return backend === 'legacy' ? `${storageKey}.wm` : `${storageKey}.`;
}

/** Returns the key of the source of a derivative. Returns other keys unchanged. */
export function sourceKeyOf(backend: Backend, key: string): string {
  const end = watermarkEnd.exec(key)?.[0];
  const suffix =
    end ?? (backend === 'legacy' ? undefined : [renditionSuffix, cleanSuffix].find((one) => key.endsWith(one)));
  return suffix === undefined ? key : key.slice(0, -suffix.length);
}

export function isRenditionKey(key: string): boolean {
  return key.endsWith(renditionSuffix);
}

const form = new RegExp(`^u/(${uuidSource})/([A-Za-z0-9_-]{1,64})/([A-Za-z0-9_-]{1,128})/(${uuidSource})[.][^/]+$`);

/** Returns the parts of a storage key, or `undefined` if no asset can have such a key. */
export function partsOfKey(storageKey: string): Omit<StorageKeyParts, 'mime'> | undefined {
  const [ownerId, scopeKind, scopeId, assetId] = form.exec(storageKey)?.slice(1) ?? [];
  if (ownerId === undefined || scopeKind === undefined || scopeId === undefined || assetId === undefined)
    return undefined;
  return { ownerId, scopeKind, scopeId, assetId };
}

/** Fixed by docs/specification/media.md#storage-keys: an update of the library must not move them. */
const fixedExtensions = new Map(Object.entries(extensions));

export function extensionOf(mime: string): string {
  return fixedExtensions.get(mime) ?? mimeTypes.getExtension(mime) ?? 'bin';
}
