/** Edits an image, or the part of it that a mask shows, through the agent's tools for clients (`POST /mcp`). */
import type { User } from '../user.tsx';

/** The ratios of `edit_image`. */
export const ratios = ['1:1', '4:3', '3:4', '16:9', '9:16'] as const;
export type Ratio = (typeof ratios)[number];

interface ToolAnswer {
  readonly error?: { readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly structuredContent?: { readonly assetId?: string; readonly message?: string };
  };
}

export interface ImageEdit {
  readonly assetId: string;
  readonly prompt: string;
  /** A PNG whose transparent pixels are the part to change, in base64. */
  readonly mask: string | undefined;
  /** `undefined`: the image's own. */
  readonly ratio: Ratio | undefined;
}

/** The id of the new image. Throws the reason why there is none. */
export async function editImage(user: User, edit: ImageEdit, signal: AbortSignal): Promise<string> {
  const response = await user.send('agent', '/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream' },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'edit_image', arguments: edit } },
    signal,
  });
  const { error, result } = parseAnswer(await response.text());
  const output = result?.structuredContent;
  if (output?.assetId !== undefined && !result?.isError) return output.assetId;
  throw new Error(output?.message ?? error?.message ?? 'The image could not be edited.');
}

/** The answer is JSON, or the last event of a stream. */
function parseAnswer(text: string): ToolAnswer {
  const events = text.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(events.at(-1)?.slice('data:'.length) ?? text);
}
