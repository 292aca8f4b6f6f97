/** What a tool of an MCP server returned, as the agent uses it: a bounded text, and pictures. */
import type { ToolResult } from './session.ts';

export interface ReadResult {
  readonly isError: boolean;
  readonly text: string;
  readonly pictures: readonly ReturnedPicture[];
}

export interface ReturnedPicture {
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export const maxText = 32_000;
const maxPictures = 8;

export function readResult(result: ToolResult): ReadResult {
  const texts: string[] = [];
  const pictures: ReturnedPicture[] = [];
  const addPicture = (mime: string, base64: string) => {
    if (pictures.length < maxPictures)
      pictures.push({ mime: mime.toLowerCase(), bytes: Buffer.from(base64, 'base64') });
    else texts.push('[an image beyond the first 8 was left out]');
  };
  for (const block of result.content) {
    switch (block.type) {
      case 'text':
        texts.push(block.text);
        break;
      case 'image':
        addPicture(block.mimeType, block.data);
        break;
      case 'resource': {
        const { resource } = block;
        const { mimeType = '', uri } = resource;
        if ('text' in resource) texts.push(resource.text);
        else if (/^image\//i.test(mimeType)) addPicture(mimeType, resource.blob);
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
  if (texts.length === 0 && pictures.length === 0 && result.structuredContent !== undefined)
    texts.push(JSON.stringify(result.structuredContent));
  return { isError: result.isError === true, text: bounded(texts.join('\n')), pictures };
}

function bounded(text: string): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  if (clean.length <= maxText) return clean;
  return `${clean.slice(0, maxText).toWellFormed()}\n[cut after ${maxText} characters]`;
}
