/**
 * Builds the model's prompt from the messages of a thread (docs/specification/agent.md#prompt): the newest that fit into
 * the model's context, beginning with a user's message, with images and documents in it.
 */

import { convertToModelMessages, isToolUIPart, type ModelMessage, type ProviderMetadata, type UIMessage } from 'ai';
import { mapConcurrently } from '#platform/concurrency.ts';
import { assetOf, isTextType, madeImagesOf, noteOfToolImage, readDataUrl, unreadable } from '../attachments.ts';
import type { AgentContext } from '../context.ts';
import { bytesPerToken, estimateTokens, imageTokens } from '../providers/resilientmodel.ts';
import { fetchFile, fetchScaledImage } from '../services/library.ts';
import type { StoredMessage } from '../threads/messagestore.ts';

type Part = UIMessage['parts'][number];
type Message = Pick<UIMessage, 'role' | 'parts'>;

export interface PromptLimits {
  /** For messages alone: instructions, tools and the answer have their own share. */
  readonly maxTokens: number;
  /** Whether the model can see images. */
  readonly vision: boolean;
}

/** Images of the newest messages that have any are shown; older ones are notes. */
const messagesWithImages = 8;
const maxImages = 20;
/** `[attached: assetId …]`. */
const noteTokens = 30;
const readAtOnce = 4;
/** The largest JSON of a message's parts beside its texts: a file in it. */
const maxFileBytes = 2 * 1024 * 1024;

/** How much to load to fill this context. A token has rarely more than eight bytes of JSON. */
export function maxHistoryBytes(contextTokens: number): number {
  return 8 * contextTokens + messagesWithImages * maxFileBytes;
}

export async function buildPrompt(
  deps: AgentContext,
  ownerId: string,
  stored: readonly StoredMessage[],
  limits: PromptLimits,
  signal: AbortSignal,
): Promise<ModelMessage[]> {
  const messages = await newestThatFit(deps, ownerId, stored.map(withoutReasoning), limits, signal);
  const shown = limits.vision ? shownImages(messages, limits.maxTokens) : new Set<Part>();
  const read = await mapConcurrently(messages, readAtOnce, async ({ role, parts }) => {
    const kept: Part[] = [];
    const made: Part[] = [];
    for (const part of parts) {
      const images = role === 'assistant' ? generatedImagesOf(part) : [];
      if (shown.has(part))
        for (const image of images) made.push(...(await toolImageParts(deps, ownerId, image, signal)));
      if (part.type !== 'file') kept.push(part);
      else if (shown.has(part) && role !== 'assistant')
        kept.push(...(await readImagePart(deps, ownerId, part, signal)));
      else kept.push(limits.vision || !isImage(part) ? noteOf(part) : unseenNoteOf(part));
    }
    return { role, parts: kept, made };
  });
  return convertToModelMessages(placeToolImages(read).map(settled), { ignoreIncompleteToolCalls: true });
}

/** The finished parts of the answer in progress. */
export function partsToMessages(parts: UIMessage['parts']): Promise<ModelMessage[]> {
  if (parts.length === 0) return Promise.resolve([]);
  return convertToModelMessages([settled({ role: 'assistant', parts })], { ignoreIncompleteToolCalls: true });
}

/** The model learns what became of a call, and that it was denied, but nothing of approvals: the SDK would carry the call out itself. */
function settled({ role, parts }: Message): Message {
  return {
    role,
    parts: parts.map((part) => {
      if (!isToolUIPart(part) || part.approval === undefined) return part;
      const { approval, ...call } = part;
      if (part.state !== 'output-denied') return call as Part;
      const reason = approval.reason === undefined ? '' : ` ${approval.reason}`;
      return { ...call, state: 'output-error', errorText: `The user has denied this call.${reason}` } as Part;
    }),
  };
}

/** An image that a tool made, for a message of role `user`: most providers take images in no other. */
export async function toolImageParts(
  deps: AgentContext,
  ownerId: string,
  assetId: string,
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const image = await readImage(deps, ownerId, assetId, signal);
  return image.length === 0 ? [] : [{ type: 'text', text: noteOfToolImage(assetId) }, ...image];
}

/** Reasoning of earlier turns is sent only with the tools that it called: DeepSeek requires it there. */
function withoutReasoning({ role, parts }: StoredMessage): Message {
  const hasCalls = parts.some(isToolUIPart);
  return { role, parts: parts.filter(({ type }) => hasCalls || type !== 'reasoning').map(withoutItemIds) };
}

function withoutItemIds(part: Part): Part {
  if ((part.type === 'text' || part.type === 'reasoning') && part.providerMetadata)
    return { ...part, providerMetadata: withoutOpenAi(part.providerMetadata) };
  if (isToolUIPart(part) && part.callProviderMetadata)
    return { ...part, callProviderMetadata: withoutOpenAi(part.callProviderMetadata) };
  return part;
}

/** OpenAI's metadata names items that it does not store. Others have signatures that have to be sent back. */
function withoutOpenAi({ openai, azure, ...rest }: ProviderMetadata): ProviderMetadata {
  return rest;
}

/**
 * With the texts of documents, which are read from the newest message on until the limit is reached. The last message stays even
 * if it exceeds the limit; its documents are cut to it.
 */
async function newestThatFit(
  deps: AgentContext,
  ownerId: string,
  messages: readonly Message[],
  { maxTokens, vision }: PromptLimits,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const fitting: Message[] = [];
  let tokensLeft = maxTokens;
  let shownLeft = vision ? messagesWithImages : 0;
  for (const message of messages.toReversed()) {
    const isLast = fitting.length === 0;
    const imageCount = message.parts.reduce((sum, part) => sum + countImages(part), 0);
    tokensLeft -= imageCount * (shownLeft > 0 ? imageTokens : noteTokens);
    if (imageCount > 0) shownLeft -= 1;
    tokensLeft -= tokensOf(message.parts.filter(({ type }) => type !== 'file'));
    if (tokensLeft < 0 && !isLast) break;
    const documents = message.parts.filter(isDocument);
    const maxBytes = isLast ? (Math.max(0, tokensLeft) * bytesPerToken) / documents.length : Number.POSITIVE_INFINITY;
    const texts = await mapConcurrently(documents, readAtOnce, (part) =>
      readDocument(deps, ownerId, part, maxBytes, signal),
    );
    tokensLeft -= tokensOf(texts);
    if (tokensLeft < 0 && !isLast) break;
    const parts = message.parts.map((part) => (isDocument(part) ? (texts[documents.indexOf(part)] ?? part) : part));
    fitting.unshift({ ...message, parts });
  }
  const question = fitting.findIndex(({ role }) => role === 'user');
  return fitting.slice(Math.max(0, question));
}

const isDocument = (part: Part): part is FilePart => part.type === 'file' && !isImage(part);

const tokensOf = (parts: readonly Part[]) => parts.reduce((sum, part) => sum + estimateTokens(JSON.stringify(part)), 0);

/** Images of tools, and those that the model itself has made. */
function generatedImagesOf(part: Part): readonly string[] {
  const assetId = part.type === 'file' && isImage(part) ? assetOf(part) : undefined;
  return assetId === undefined ? madeImagesOf(part) : [assetId];
}

const countImages = (part: Part) => (part.type === 'file' ? Number(isImage(part)) : madeImagesOf(part).length);

/** As many as the context has room for. */
function shownImages(messages: readonly Message[], maxTokens: number): ReadonlySet<Part> {
  const shown = new Set<Part>();
  let messagesLeft = messagesWithImages;
  let imagesLeft = Math.min(maxImages, Math.max(1, Math.floor(maxTokens / imageTokens)));
  for (const { role, parts } of messages.toReversed()) {
    const withImages = parts.filter((part) => (part.type === 'file' || role === 'assistant') && countImages(part) > 0);
    if (withImages.length === 0) continue;
    if (messagesLeft === 0) break;
    messagesLeft -= 1;
    for (const part of withImages.toReversed()) {
      imagesLeft -= countImages(part);
      if (imagesLeft >= 0) shown.add(part);
    }
  }
  return shown;
}

/** Images that tools made go to the beginning of the user's next message. */
function placeToolImages(messages: readonly (Message & { readonly made: readonly Part[] })[]): Message[] {
  let waiting: readonly Part[] = [];
  return messages.map(({ role, parts, made }) => {
    const placed = role === 'user' ? [...waiting, ...parts] : parts;
    waiting = role === 'user' ? [] : [...waiting, ...made];
    return { role, parts: placed };
  });
}

// Files of a conversation as a model can read them: images as bytes, documents as text, everything else as a note.

type FilePart = Extract<Part, { type: 'file' }>;

const maxTextBytes = 100_000;
const maxPdfBytes = 20 * 1024 * 1024;
/** As many characters of a document as a text file may have. */
const maxExtracted = maxTextBytes;

/**
 * The text of a document, with at most `maxBytes`. Never rejects but for the signal: what cannot be read is a note. Addresses of
 * other servers are never fetched.
 */
async function readDocument(
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
async function readImagePart(
  deps: AgentContext,
  ownerId: string,
  part: FilePart,
  signal: AbortSignal,
): Promise<readonly Part[]> {
  if (isStoredImage(part)) return [noteOf(part), part];
  return [noteOf(part), ...(await readImage(deps, ownerId, assetOf(part), signal))];
}

/** The image as bytes; nothing if it cannot be read. */
async function readImage(
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

function isImage(part: FilePart): boolean {
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
