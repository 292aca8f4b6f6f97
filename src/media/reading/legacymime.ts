/**
 * What a legacy file is: what its store says, else what its first bytes say, else what its name says. The bytes are read
 * once for each version of a file.
 */
import { fileTypeFromBuffer } from 'file-type';
import { LRUCache } from 'lru-cache';
import mimeTypes from 'mime';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { readUnchanged } from './unchanged.ts';

/** By bucket, path and etag. Of one process: another one reads the bytes itself. */
const known = new LRUCache<string, string>({ max: 10_000 });
/** As many as the library asks for. */
const beginningBytes = 4100;

/** Types that stores give to uploads that name none. */
const saysNothing = new Set(['application/octet-stream', 'binary/octet-stream']);
/** Formats that hold others, which the name tells apart: documents are archives, SVG is XML. */
const containers = new Set(['application/zip', 'application/x-cfb', 'application/xml']);
/** The library's name, and the one by which assets are registered. */
const aliases: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'video/x-m4v': 'video/mp4',
  'image/apng': 'image/png',
};

/** `undefined`: the file is no longer the one that `head` describes. Throws `engine_unavailable`. */
export async function mimeOfFile(
  objects: Pick<Objects, 'bucket' | 'get'>,
  path: string,
  head: ObjectHead,
): Promise<string | undefined> {
  const said = mediaTypeOf(head.contentType);
  if (said !== undefined) return said;
  if (head.size === 0) return mimeOfPath(path);
  const name = JSON.stringify([objects.bucket, path, head.etag]);
  const before = known.get(name);
  if (before !== undefined) return before;
  const beginning = await readUnchanged(objects, path, {
    ifMatch: head.etag,
    range: { start: 0, end: beginningBytes - 1 },
  });
  if (beginning === undefined) return undefined;
  const mime = (await mimeOfBytes(beginning.bytes)) ?? mimeOfPath(path);
  known.set(name, mime);
  return mime;
}

/** By the extension; what nobody knows is plain bytes (RFC 2046 §4.5.1). */
export function mimeOfPath(path: string): string {
  return mimeTypes.getType(path) ?? 'application/octet-stream';
}

/** Without parameters; `undefined`: it says nothing. */
function mediaTypeOf(contentType: string | undefined): string | undefined {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';');
  const trimmed = type.trim();
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(trimmed) && !saysNothing.has(trimmed) ? trimmed : undefined;
}

/** `undefined`: they say nothing, or no more than the name does. */
async function mimeOfBytes(bytes: Uint8Array): Promise<string | undefined> {
  try {
    const mime = (await fileTypeFromBuffer(bytes))?.mime;
    return mime === undefined || containers.has(mime) ? undefined : (aliases[mime] ?? mime);
  } catch {
    // The parsers throw when headers announce more than there is.
    return undefined;
  }
}
