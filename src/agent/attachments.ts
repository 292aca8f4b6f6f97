/** File parts of messages that name an asset of the library. */
import type { UIMessage } from 'ai';

type Part = UIMessage['parts'][number];

/** The asset of a file part whose URL is `asset:<assetId>`. */
export function assetOf(part: Part): string | undefined {
  return part.type === 'file' && part.url.startsWith('asset:')
    ? part.url.slice('asset:'.length).toLowerCase()
    : undefined;
}
