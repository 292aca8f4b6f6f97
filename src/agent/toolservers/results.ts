/** What a tool of an MCP server returned, as the agent uses it: a bounded text, and images. */
import type { ToolResult } from './session.ts';

export interface ReadResult {
  readonly isError: boolean;
  readonly text: string;
  readonly images: readonly ReturnedImage[];
}

export interface ReturnedImage {
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export const maxText = 32_000;
const maxImages = 8;

export function readResult(result: ToolResult): ReadResult {
  const texts: string[] = [];
  const images: ReturnedImage[] = [];
  const addImage = (mime: string, base64: string) => {
    if (images.length < maxImages) images.push({ mime: mime.toLowerCase(), bytes: Buffer.from(base64, 'base64') });
    else texts.push('[an image after the first 8 was left out]');
  };
  for (const block of result.content) {
    switch (block.type) {
      case 'text':
        texts.push(block.text);
        break;
      case 'image':
        addImage(block.mimeType, block.data);
        break;
      case 'resource': {
        const { resource } = block;
        const { mimeType = '', uri } = resource;
        if ('text' in resource) texts.push(resource.text);
        else if (/^image\//i.test(mimeType)) addImage(mimeType, resource.blob);
        else texts.push(`[a file that cannot be shown: ${uri}]`);
        break;
      }
      case 'resource_link':
        texts.push(`[${block.name}: ${block.uri}]`);
        break;
      default:
        texts.push(`[${block.type} that cannot be shown]`);
    }
  }
  if (texts.length === 0 && images.length === 0 && result.structuredContent !== undefined)
    texts.push(JSON.stringify(result.structuredContent));
  return { isError: result.isError === true, text: bounded(texts.join('\n')), images };
}

function bounded(text: string): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  if (clean.length <= maxText) return clean;
  return `${clean.slice(0, maxText).toWellFormed()}\n[cut after ${maxText} characters]`;
}
