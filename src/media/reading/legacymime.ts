/**
 * Determines the mime of a legacy file by the store's content type, else by its first bytes, else by its extension. The
 * bytes are read once for each version of a file.
 */

import mimeTypes from 'mime';
import { recognize } from '#image/engine/formats.ts';
import { createLru } from '#platform/cache/cache.ts';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { readBeginning } from './unchanged.ts';

/** By bucket, path and ETag, in this process. */
const known = createLru<string, string>(10_000);

/** Default types of stores for uploads without a type. */
const isUnspecific = new Set(['application/octet-stream', 'binary/octet-stream']);
/** Container formats whose content the extension shows: documents are archives, SVG is XML. */
const containers = new Set(['application/zip', 'application/x-cfb', 'application/xml']);
/** The library's name for a type, and the one by which assets are registered. */
const aliases: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'video/x-m4v': 'video/mp4',
  'image/apng': 'image/png',
};

/** `undefined`: the file was replaced since `head`. Throws `engine_unavailable`. */
export async function mimeOfFile(
  objects: Pick<Objects, 'bucket' | 'get'>,
  path: string,
  head: ObjectHead,
): Promise<string | undefined> {
  const declared = mediaTypeOf(head.contentType);
  if (declared !== undefined) return declared;
  if (head.size === 0) return mimeOfPath(path);
  const name = JSON.stringify([objects.bucket, path, head.etag]);
  const before = known.get(name);
  if (before !== undefined) return before;
  const beginning = await readBeginning(objects, path, head.etag);
  if (beginning === undefined) return undefined;
  const mime = (await mimeOfBytes(beginning)) ?? mimeOfPath(path);
  known.set(name, mime);
  return mime;
}

/** By the extension; an unknown one means plain bytes (RFC 2046 §4.5.1). */
export function mimeOfPath(path: string): string {
  return mimeTypes.getType(path) ?? 'application/octet-stream';
}

/** Without parameters; `undefined`: no specific type. */
function mediaTypeOf(contentType: string | undefined): string | undefined {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';');
  const trimmed = type.trim();
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(trimmed) && !isUnspecific.has(trimmed) ? trimmed : undefined;
}

/** `undefined`: unknown, or no more specific than the extension. */
async function mimeOfBytes(bytes: Uint8Array): Promise<string | undefined> {
  const mime = await recognize(bytes);
  return mime === undefined || containers.has(mime) ? undefined : (aliases[mime] ?? mime);
}
