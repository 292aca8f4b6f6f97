/**
 * Builds the model's prompt from the messages of a thread (docs/specification/agent.md#prompt): the newest that fit into
 * the model's context, beginning with a user's message, with pictures and documents in it.
 */
import { convertToModelMessages, isToolUIPart, type ModelMessage, type ProviderMetadata, type UIMessage } from 'ai';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { madePictureOf } from '../attachments.ts';
import { estimateTokens, pictureTokens } from '../providers/promptsize.ts';
import type { StoredMessage } from '../store/messagestore.ts';
import { type FileDeps, isPicture, noteOf, readFilePart, readPicture } from './files.ts';

type Part = UIMessage['parts'][number];
type Message = Pick<UIMessage, 'role' | 'parts'>;

export interface PromptLimits {
  /** For messages alone: instructions, tools and the answer have their own share. */
  readonly maxTokens: number;
  /** Whether the model can see pictures. */
  readonly vision: boolean;
}

/** Pictures of the newest messages that have any are shown; older ones are notes. */
const messagesWithPictures = 8;
const maxPictures = 20;
/** Estimated without reading it: a text file or the text of a document has at most 100,000 characters. */
const maxDocumentTokens = estimateTokens('a'.repeat(100_000));
const readAtOnce = 4;
/** The largest JSON of a message's parts beside its texts: a file in it. */
const maxFileBytes = 2 * 1024 * 1024;

/** How much to load to fill this context. A token has rarely more than eight bytes of JSON. */
export function maxHistoryBytes(contextTokens: number): number {
  return 8 * contextTokens + messagesWithPictures * maxFileBytes;
}

export async function buildPrompt(
  deps: FileDeps,
  ownerId: string,
  stored: readonly StoredMessage[],
  { maxTokens, vision }: PromptLimits,
  signal: AbortSignal,
): Promise<ModelMessage[]> {
  const messages = newestThatFit(stored.map(withoutReasoning), maxTokens);
  const shown = vision ? shownPictures(messages) : new Set<Part>();
  const read = await mapConcurrently(messages, readAtOnce, async ({ role, parts }) => {
    const parted: Part[] = [];
    const made: Part[] = [];
    for (const part of parts) {
      const picture = role === 'assistant' ? madePictureOf(part) : undefined;
      if (picture !== undefined && shown.has(part)) made.push(...(await showMade(deps, ownerId, picture, signal)));
      if (part.type !== 'file') parted.push(part);
      else if (isPicture(part) && !shown.has(part)) parted.push(noteOf(part));
      else parted.push(...(await readFilePart(deps, ownerId, part, signal)));
    }
    return { role, parts: parted, made };
  });
  return convertToModelMessages(placeMade(read), { ignoreIncompleteToolCalls: true });
}

/** A picture that a tool made, for a message of role `user`: most providers take pictures in no other. */
export async function showMade(
  deps: FileDeps,
  ownerId: string,
  assetId: string,
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const picture = await readPicture(deps, ownerId, assetId, signal);
  return picture.length === 0 ? [] : [{ type: 'text', text: `[made by your tool: assetId ${assetId}]` }, ...picture];
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
  if (part.type === 'file') return isPicture(part) ? pictureTokens : Math.min(maxDocumentTokens, documentTokens(part));
  const picture = madePictureOf(part) === undefined ? 0 : pictureTokens;
  return picture + estimateTokens(JSON.stringify(part));
}

/** An asset's size is not known here; of a `data:` URL, three of four characters are bytes. */
function documentTokens({ url }: { url: string }): number {
  return url.startsWith('data:') ? estimateTokens(url) : maxDocumentTokens;
}

function shownPictures(messages: readonly Message[]): ReadonlySet<Part> {
  const shown = new Set<Part>();
  let messagesLeft = messagesWithPictures;
  for (const { role, parts } of messages.toReversed()) {
    const pictures = parts.filter((part) =>
      part.type === 'file' ? isPicture(part) : role === 'assistant' && madePictureOf(part) !== undefined,
    );
    if (pictures.length === 0) continue;
    if (messagesLeft === 0) break;
    messagesLeft -= 1;
    for (const picture of pictures.toReversed()) if (shown.size < maxPictures) shown.add(picture);
  }
  return shown;
}

/** Pictures that tools made go to the beginning of the user's next message. */
function placeMade(messages: readonly (Message & { readonly made: readonly Part[] })[]): Message[] {
  let waiting: readonly Part[] = [];
  return messages.map(({ role, parts, made }) => {
    const placed = role === 'user' ? [...waiting, ...parts] : parts;
    waiting = role === 'user' ? [] : [...waiting, ...made];
    return { role, parts: placed };
  });
}
