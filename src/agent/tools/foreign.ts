/** The tools of MCP servers as tools of the model. A failure is an output with a code: the run goes on. */

import { dynamicTool, jsonSchema, type ToolSet } from 'ai';
import { DeadlineExceeded } from '#platform/resilience.ts';
import type { AgentContext } from '../context.ts';
import { keep, Refused } from '../services/library.ts';
import { RequestRefused, type ToolResult } from '../toolservers/session.ts';
import { reasonOf } from '../toolservers/toolserver.ts';
import type { ForeignTool } from '../toolservers/toolservers.ts';
import type { ToolContext } from './context.ts';

const never = new AbortController().signal;
const progressEveryMs = 250;
const maxMessage = 1000;
const maxProgressMessage = 200;

export function foreignTools(deps: AgentContext, context: ToolContext, tools: readonly ForeignTool[]): ToolSet {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      dynamicTool({
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema),
        execute: (input, { toolCallId, abortSignal: signal = never }) =>
          execute(deps, context, tool, { input, toolCallId, signal }),
      }),
    ]),
  );
}

interface ToolCall {
  readonly input: unknown;
  readonly toolCallId: string;
  readonly signal: AbortSignal;
}

async function execute(deps: AgentContext, context: ToolContext, tool: ForeignTool, call: ToolCall) {
  const { input, toolCallId, signal } = call;
  const progress = showProgress(context, toolCallId);
  let result: ReadResult;
  try {
    result = readResult(await tool.call(input, { signal, onProgress: progress.show }));
  } catch (error) {
    signal.throwIfAborted();
    return describeFailure(deps, tool, error);
  } finally {
    await progress.written();
  }
  if (result.isError) return failed('tool_failed', result.text.slice(0, maxMessage) || 'The tool failed.', false);
  return { status: 'completed', ...(await storeImages(deps, context, call, result)) };
}

function describeFailure({ log }: AgentContext, { server }: ForeignTool, error: unknown) {
  if (error instanceof RequestRefused) return failed('tool_failed', error.message.slice(0, maxMessage), false);
  const reason = reasonOf(error);
  log.warn({ server, reason }, 'a tool of an MCP server failed');
  const code = error instanceof DeadlineExceeded ? 'tool_timeout' : 'tool_unavailable';
  return failed(code, `The server of this tool failed: ${reason}.`, true);
}

function failed(code: string, message: string, retryable: boolean) {
  return { status: 'failed', failure: { code, message: message.toWellFormed(), retryable } };
}

/** Progress goes to the readers of the stream, and is not part of the message. */
function showProgress({ writer }: ToolContext, toolCallId: string) {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let writing: Promise<unknown> = Promise.resolve();
  return {
    show: ({ progress, total, message }: { progress: number; total?: number; message?: string }) => {
      if (performance.now() - shownAtMs < progressEveryMs) return;
      shownAtMs = performance.now();
      const data = { toolCallId, progress, total, message: message?.slice(0, maxProgressMessage) };
      const chunk = { type: 'data-tool-progress', id: toolCallId, data, transient: true } as const;
      // If the stream cannot be written, the next write of the run fails too.
      writing = writing.then(() => writer.write(chunk)).catch(() => undefined);
    },
    written: () => writing,
  };
}

/** The images become assets of the user in the scope of the thread, like those that the agent's own tools make. */
async function storeImages(
  deps: AgentContext,
  context: ToolContext,
  { toolCallId, signal }: ToolCall,
  { text, images }: ReadResult,
) {
  const notes: string[] = [];
  const assets: { readonly assetId: string; readonly mime: string }[] = [];
  for (const [index, image] of images.entries()) {
    const stored = await storeImage(deps, context, `${toolCallId}:${index}`, image, signal);
    if (typeof stored === 'string') notes.push(`[image ${index + 1} was not stored: ${stored}]`);
    else assets.push(stored);
  }
  context.madeImages.push(...assets.map(({ assetId }) => assetId));
  const lines = [text, ...notes].filter((part) => part !== '');
  const [first] = assets;
  // The first one has the shape of an image that the agent made, so clients show it.
  const shown = first && { kind: 'image', assetId: first.assetId, url: null, mime: first.mime };
  return {
    ...shown,
    text: lines.join('\n'),
    ...(assets.length > 1 && { assetIds: assets.map(({ assetId }) => assetId) }),
  };
}

/** The asset, or the reason why there is none. */
async function storeImage(
  deps: AgentContext,
  { run: { taskId, ownerId, threadId } }: ToolContext,
  name: string,
  { mime, bytes }: ReturnedImage,
  signal: AbortSignal,
) {
  if (bytes.length === 0) return 'it is empty';
  const reference = `mcp:${taskId}:${name}`;
  try {
    return await keep(deps, { reference, ownerId, threadId, kind: 'image', mime: acceptedMime(mime), bytes }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refused) return error.message;
    deps.log.warn({ err: error }, 'an image of an MCP server could not be stored');
    return 'the library does not respond';
  }
}

/** The media service finds out what the bytes are. */
function acceptedMime(mime: string): string {
  return /^image\/[a-z0-9][a-z0-9.+-]{0,60}$/.test(mime) ? mime : 'image/png';
}

// What a tool of an MCP server returned, as the agent uses it: a bounded text, and images.

interface ReadResult {
  readonly isError: boolean;
  readonly text: string;
  readonly images: readonly ReturnedImage[];
}

interface ReturnedImage {
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export const maxText = 32_000;
const maxImages = 8;

function readResult(result: ToolResult): ReadResult {
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
