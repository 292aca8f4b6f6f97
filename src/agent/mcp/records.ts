/** `list_assets`, `save_memory` and `recall_memory`: free, with the rights of the user. */
import { type LibraryDeps, type ListedAssets, listLibrary, Refused, sign } from '../services/library.ts';
import { addMemory, type MemoryDeps, MemoryFull, searchMemory } from '../services/memory.ts';
import { succeed, ToolFailed } from './results.ts';

export interface RecordDeps extends LibraryDeps, MemoryDeps {}

export async function listAssets(
  deps: RecordDeps,
  userId: string,
  query: { readonly limit: number; readonly cursor?: string | undefined; readonly kind?: string | undefined },
  signal: AbortSignal,
) {
  const page = await listLibrary(deps, userId, query, signal).catch((error: unknown) => {
    throw error instanceof Refused ? new ToolFailed('invalid_request', error.message) : error;
  });
  const urls = await signPage(deps, userId, page);
  const assets = page.assets.map((asset) => ({ ...asset, url: urls.get(asset.assetId) ?? null }));
  const data = { assets, nextCursor: page.nextCursor };
  // Models read the text; the URLs are for programs, and long.
  const lines = page.assets.map(({ assetId, kind, createdAt }) => `${assetId} ${kind} ${createdAt}`);
  const more = page.nextCursor === null ? [] : [`For more, pass this cursor: ${page.nextCursor}`];
  return succeed([...lines, ...more].join('\n') || 'The library is empty.', data);
}

async function signPage(deps: RecordDeps, userId: string, { assets }: ListedAssets) {
  const idsOf = (isVideo: boolean) =>
    assets.filter(({ mime }) => mime.startsWith('video/') === isVideo).map(({ assetId }) => assetId);
  const [images, videos] = await Promise.all([
    sign(deps, userId, 'image', idsOf(false)),
    sign(deps, userId, 'video', idsOf(true)),
  ]);
  return new Map([...images, ...videos].map(([assetId, { url }]) => [assetId, url]));
}

export async function saveMemory(
  deps: RecordDeps,
  userId: string,
  { content, type }: { readonly content: string; readonly type: string },
  signal: AbortSignal,
) {
  const { id, deduplicated } = await addMemory(deps, userId, content, type, signal).catch((error: unknown) => {
    throw error instanceof MemoryFull ? new ToolFailed('memory_full', 'The memory is full.') : error;
  });
  return succeed(deduplicated ? 'This is already stored.' : 'Remembered.', { memoryId: id, deduplicated });
}

export async function recallMemory(
  deps: RecordDeps,
  userId: string,
  { query }: { readonly query: string },
  signal: AbortSignal,
) {
  const memories = await searchMemory(deps, userId, query, signal);
  return succeed(memories.join('\n') || 'No memories match.', { memories });
}
