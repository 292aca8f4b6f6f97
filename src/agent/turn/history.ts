/**
 * Builds the model's prompt from the messages of a thread (docs/specification/agent.md#prompt): the newest that fit into
 * the model's context, beginning with a user's message, with images and documents in it.
 */
import { convertToModelMessages, isToolUIPart, type ModelMessage, type ProviderMetadata, type UIMessage } from 'ai';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { madeImageOf } from '../attachments.ts';
import { estimateTokens, imageTokens } from '../providers/promptsize.ts';
import type { StoredMessage } from '../store/messagestore.ts';
import { type FileDeps, isImage, noteOf, readFilePart, readImage } from './files.ts';

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
/** Estimated without reading it: a text file or the text of a document has at most 100,000 characters. */
const maxDocumentTokens = estimateTokens('a'.repeat(100_000));
const readAtOnce = 4;
/** The largest JSON of a message's parts beside its texts: a file in it. */
const maxFileBytes = 2 * 1024 * 1024;

/** How much to load to fill this context. A token has rarely more than eight bytes of JSON. */
export function maxHistoryBytes(contextTokens: number): number {
  return 8 * contextTokens + messagesWithImages * maxFileBytes;
}

export async function buildPrompt(
  deps: FileDeps,
  ownerId: string,
  stored: readonly StoredMessage[],
  { maxTokens, vision }: PromptLimits,
  signal: AbortSignal,
): Promise<ModelMessage[]> {
  const messages = newestThatFit(stored.map(withoutReasoning), maxTokens);
  const shown = vision ? shownImages(messages) : new Set<Part>();
  const read = await mapConcurrently(messages, readAtOnce, async ({ role, parts }) => {
    const parted: Part[] = [];
    const made: Part[] = [];
    for (const part of parts) {
      const image = role === 'assistant' ? madeImageOf(part) : undefined;
      if (image !== undefined && shown.has(part)) made.push(...(await showMade(deps, ownerId, image, signal)));
      if (part.type !== 'file') parted.push(part);
      else if (isImage(part) && !shown.has(part)) parted.push(noteOf(part));
      else parted.push(...(await readFilePart(deps, ownerId, part, signal)));
    }
    return { role, parts: parted, made };
  });
  return convertToModelMessages(placeMade(read), { ignoreIncompleteToolCalls: true });
}

/** An image that a tool made, for a message of role `user`: most providers take images in no other. */
export async function showMade(
  deps: FileDeps,
  ownerId: string,
  assetId: string,
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const image = await readImage(deps, ownerId, assetId, signal);
  return image.length === 0 ? [] : [{ type: 'text', text: `[made by your tool: assetId ${assetId}]` }, ...image];
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

/** The last message stays even if it exceeds the limit. */
function newestThatFit(messages: readonly Message[], maxTokens: number): readonly Message[] {
  let tokens = 0;
  const tooOld = messages.findLastIndex(({ parts }, index) => {
    tokens += parts.reduce((sum, part) => sum + tokensOf(part), 0);
    return tokens > maxTokens && index < messages.length - 1;
  });
  const fitting = messages.slice(tooOld + 1);
  const question = fitting.findIndex(({ role }) => role === 'user');
  return fitting.slice(Math.max(0, question));
}

function tokensOf(part: Part): number {
  if (part.type === 'file') return isImage(part) ? imageTokens : Math.min(maxDocumentTokens, documentTokens(part));
  const image = madeImageOf(part) === undefined ? 0 : imageTokens;
  return image + estimateTokens(JSON.stringify(part));
}

/** An asset's size is not known here; of a `data:` URL, three of four characters are bytes. */
function documentTokens({ url }: { url: string }): number {
  return url.startsWith('data:') ? estimateTokens(url) : maxDocumentTokens;
}

function shownImages(messages: readonly Message[]): ReadonlySet<Part> {
  const shown = new Set<Part>();
  let messagesLeft = messagesWithImages;
  for (const { role, parts } of messages.toReversed()) {
    const images = parts.filter((part) =>
      part.type === 'file' ? isImage(part) : role === 'assistant' && madeImageOf(part) !== undefined,
    );
    if (images.length === 0) continue;
    if (messagesLeft === 0) break;
    messagesLeft -= 1;
    for (const image of images.toReversed()) if (shown.size < maxImages) shown.add(image);
  }
  return shown;
}

/** Images that tools made go to the beginning of the user's next message. */
function placeMade(messages: readonly (Message & { readonly made: readonly Part[] })[]): Message[] {
  let waiting: readonly Part[] = [];
  return messages.map(({ role, parts, made }) => {
    const placed = role === 'user' ? [...waiting, ...parts] : parts;
    waiting = role === 'user' ? [] : [...waiting, ...made];
    return { role, parts: placed };
  });
}
