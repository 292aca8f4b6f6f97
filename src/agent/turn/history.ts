/** What the model is told of the conversation so far. */
import { convertToModelMessages, type ModelMessage, type UIMessage } from 'ai';
import type { StoredMessage } from '../store/messagestore.ts';

/** JSON characters: the newest messages that fit, and the last one in any case. */
const maxHistory = 400_000;
/** What has to be loaded for it: a character has at most three bytes. */
export const maxHistoryBytes = 3 * maxHistory;

export interface HistoryDeps {
  /** URLs of assets for a provider. Those that the owner of the thread may not read are missing. */
  readonly signImages: (ownerId: string, assetIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export async function tellHistory(
  deps: HistoryDeps,
  ownerId: string,
  messages: readonly StoredMessage[],
): Promise<ModelMessage[]> {
  const recent = newest(messages);
  const attached = recent.flatMap(({ parts }) => parts.flatMap((part) => assetOf(part) ?? []));
  const urls = attached.length > 0 ? await deps.signImages(ownerId, attached) : new Map<string, string>();
  const told = recent.map(({ role, parts }) => ({ role, parts: parts.flatMap((part) => tellPart(part, urls)) }));
  return convertToModelMessages(told, { ignoreIncompleteToolCalls: true });
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

/** Of a file part `asset:<assetId>`. */
export function assetOf(part: Part): string | undefined {
  return part.type === 'file' && part.url.startsWith('asset:')
    ? part.url.slice('asset:'.length).toLowerCase()
    : undefined;
}

/** Pictures go to the model by address; tools need the id. Other addresses of strangers are never fetched by us. */
function tellPart(part: Part, urls: ReadonlyMap<string, string>): Part[] {
  if (part.type !== 'file') return [part];
  const assetId = assetOf(part);
  const url = assetId === undefined ? part.url : urls.get(assetId);
  const name = assetId === undefined ? (part.filename ?? part.mediaType) : `assetId ${assetId}`;
  const note: Part = { type: 'text', text: `[attached: ${name}]` };
  return url === undefined || !part.mediaType.startsWith('image/') ? [note] : [note, { ...part, url }];
}
