/** Builds the model's prompt from the messages of a thread. */
import { convertToModelMessages, type ModelMessage, type UIMessage } from 'ai';
import { assetOf } from '../attachments.ts';
import type { StoredMessage } from '../store/messagestore.ts';

/** JSON characters: the newest messages that fit, and the last one in any case. */
const maxHistory = 400_000;
/** The bytes to load for it: a character has at most three. */
export const maxHistoryBytes = 3 * maxHistory;

export interface HistoryDeps {
  /** URLs of assets for a provider, without those that the owner of the thread may not read. */
  readonly signImages: (ownerId: string, assetIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export async function buildPrompt(
  deps: HistoryDeps,
  ownerId: string,
  messages: readonly StoredMessage[],
): Promise<ModelMessage[]> {
  const recent = newest(messages);
  const attached = recent.flatMap(({ parts }) => parts.flatMap((part) => assetOf(part) ?? []));
  const urls = attached.length > 0 ? await deps.signImages(ownerId, attached) : new Map<string, string>();
  const prompt = recent.map(({ role, parts }) => ({ role, parts: parts.flatMap((part) => promptPart(part, urls)) }));
  return convertToModelMessages(prompt, { ignoreIncompleteToolCalls: true });
}

function newest(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  let size = 0;
  const tooOld = messages.findLastIndex((message, index) => {
    size += JSON.stringify(message.parts).length;
    return size > maxHistory && index < messages.length - 1;
  });
  return messages.slice(tooOld + 1);
}

type Part = UIMessage['parts'][number];

/** Pictures go to the model by address; tools need the id. Other addresses of strangers are never fetched by us. */
function promptPart(part: Part, urls: ReadonlyMap<string, string>): Part[] {
  if (part.type !== 'file') return [part];
  const assetId = assetOf(part);
  const url = assetId === undefined ? part.url : urls.get(assetId);
  const name = assetId === undefined ? (part.filename ?? part.mediaType) : `assetId ${assetId}`;
  const note: Part = { type: 'text', text: `[attached: ${name}]` };
  return url === undefined || !part.mediaType.startsWith('image/') ? [note] : [note, { ...part, url }];
}
