/** Files of a conversation as a model can read them: images as bytes, documents as text, everything else as a note. */

import type { UIMessage } from 'ai';
import { assetOf, isTextType, readDataUrl, unreadable } from '../attachments.ts';
import type { AgentContext } from '../context.ts';
import { fetchFile, fetchScaledImage } from '../services/library.ts';

type Part = UIMessage['parts'][number];
export type FilePart = Extract<Part, { type: 'file' }>;

const maxTextBytes = 100_000;
const maxPdfBytes = 20 * 1024 * 1024;
/** As many characters of a document as a text file may have. */
const maxExtracted = maxTextBytes;

/**
 * The text of a document, with at most `maxBytes`. Never rejects but for the signal: what cannot be read is a note. Addresses of
 * other servers are never fetched.
 */
export async function readDocument(
  deps: AgentContext,
  ownerId: string,
  part: FilePart,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Part> {
  const note = noteOf(part);
  try {
    const text = await readText(deps, ownerId, part, signal);
    return text === undefined ? note : { type: 'text', text: `${note.text}\n${cut(text, maxBytes)}` };
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ err: error }, 'an attachment could not be read');
    return note;
  }
}

/** The part that fits into the context of the model. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const kept = text.slice(0, Math.floor((text.length * maxBytes) / bytes)).toWellFormed();
  return `${kept}\n[The rest of the file is too long for this model.]`;
}

/** Never rejects but for the signal: an image that cannot be read is a note. */
export async function readImagePart(
  deps: AgentContext,
  ownerId: string,
  part: FilePart,
  signal: AbortSignal,
): Promise<readonly Part[]> {
  if (isStoredImage(part)) return [noteOf(part), part];
  return [noteOf(part), ...(await readImage(deps, ownerId, assetOf(part), signal))];
}

/** The image as bytes; nothing if it cannot be read. */
export async function readImage(
  deps: AgentContext,
  ownerId: string,
  assetId: string | undefined,
  signal: AbortSignal,
): Promise<readonly FilePart[]> {
  if (assetId === undefined) return [];
  try {
    const image = await fetchScaledImage(deps, ownerId, assetId, signal);
    if (image === undefined) return [];
    const url = `data:${image.mime};base64,${Buffer.from(image.bytes).toString('base64')}`;
    return [{ type: 'file', mediaType: image.mime, url }];
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ err: error }, 'an image could not be read for the model');
    return [];
  }
}

/** An image in the message itself, from before such images became assets. */
function isStoredImage(part: FilePart): boolean {
  return /^data:/i.test(part.url) && part.providerMetadata?.[unreadable] === undefined;
}

export function isImage(part: FilePart): boolean {
  return part.mediaType.toLowerCase().startsWith('image/');
}

export function noteOf(part: FilePart): { type: 'text'; text: string } {
  return { type: 'text', text: `[attached: ${nameOf(part)}]` };
}

/** Of an image for a model without vision, which would otherwise answer as if nothing were attached, or invent what it shows. */
export function unseenNoteOf(part: FilePart): { type: 'text'; text: string } {
  const request = 'You cannot see images. Say so if the answer depends on this one.';
  return { type: 'text', text: `[attached: ${nameOf(part)}]\n[${request}]` };
}

function nameOf(part: FilePart): string {
  const assetId = assetOf(part);
  return assetId === undefined ? (part.filename ?? part.mediaType) : `assetId ${assetId}`;
}

async function readText(
  deps: AgentContext,
  ownerId: string,
  part: FilePart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const mime = part.mediaType.toLowerCase();
  const isPdf = mime === 'application/pdf';
  if (!isPdf && !isTextType(mime)) return undefined;
  const maxBytes = isPdf ? maxPdfBytes : maxTextBytes;
  const assetId = assetOf(part);
  const file =
    assetId === undefined ? readDataUrl(part.url) : await fetchFile(deps, ownerId, assetId, maxBytes, signal);
  if (file === undefined || file.bytes.length === 0 || file.bytes.length > maxBytes) return undefined;
  if (!isPdf) return new TextDecoder().decode(file.bytes);
  return deps.documents.readPdf(ownerId, file.bytes, maxExtracted);
}
