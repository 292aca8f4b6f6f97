/** File parts of messages: which asset they name, and what a `data:` URL holds. */
import type { UIMessage } from 'ai';

type Part = UIMessage['parts'][number];

/** Marks, in `providerMetadata`, an image that the media service could not decode. */
export const unreadable = 'atelierUnreadable';

const assetUrl = /^asset:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The asset of a file part whose URL is `asset:<assetId>`. */
export function assetOf(part: Part): string | undefined {
  return part.type === 'file' ? assetUrl.exec(part.url)?.[1]?.toLowerCase() : undefined;
}

/** The media type, in lower case, and the bytes of a `data:` URL in base64. */
export function readDataUrl(url: string): { readonly mime: string; readonly bytes: Buffer } | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  const [mime = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';');
  if (comma < 0 || parameters.at(-1) !== 'base64') return undefined;
  return { mime, bytes: Buffer.from(url.slice(comma + 1), 'base64') };
}

/** The images in the output of a tool that made some. A tool of an MCP server may return several. */
export function madeImagesOf(part: Part): readonly string[] {
  const output: unknown = part.type.startsWith('tool-') && 'output' in part ? part.output : undefined;
  const { kind, assetId, assetIds } = Object(output) as Record<string, unknown>;
  if (kind !== 'image') return [];
  return (Array.isArray(assetIds) ? assetIds : [assetId]).filter((id) => typeof id === 'string');
}
