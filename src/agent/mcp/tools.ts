/** The tools that MCP clients see: names, descriptions and inputs (docs/specification/agent.md#mcp-server). */

import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Plan } from '#accounts/api.ts';
import { findUnstorable } from '#platform/storable.ts';
import { videoAssetId } from '../billing/usage.ts';
import type { Generation } from '../generation/api.ts';
import { type Catalogue, describeModels, modelFor, type VideoModel } from '../generation/catalogue.ts';
import { waitForEnd } from '../generation/generations.ts';
import { placeVideo } from '../generation/orders.ts';
import { type Ratio, ratio } from '../providers/generators.ts';
import { listLibrary, Refused, signAll } from '../services/library.ts';
import { addMemory, MemoryRefused, searchMemory } from '../services/memory.ts';
import { type McpContext, ofMcp } from './calls.ts';
import { assertOwn, makeImages, toolFailed } from './images.ts';
import { linkTo, succeed, ToolFailed } from './results.ts';

export interface McpCaller {
  readonly userId: string;
  readonly onProgress: (message: string) => void;
}

interface McpTool {
  readonly definition: Tool;
  /** Throws a ZodError for a wrong input. */
  readonly call: (deps: McpContext, caller: McpCaller, input: unknown) => Promise<CallToolResult>;
}

const text = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((value) => findUnstorable(value, '') === undefined, 'must not contain NUL or lone surrogates');
const prompt = text(4000).describe('A description of the result.');
/** The start of every PNG, in base64. */
const pngStart = 'iVBORw0KGgo';
const maxMaskLength = 700_000;
const mask = z
  .base64('must be a PNG in base64')
  .max(maxMaskLength)
  .refine((data) => data.startsWith(pngStart), 'must be a PNG in base64')
  .describe('A PNG in base64, with the size of the image. Its transparent pixels mark the part to change.');
const named = {
  model: z.string().max(128).optional().describe('The id of a model. Default: the first.'),
  n: z.int().min(1).max(16).optional().describe('The number of images. Default: 1.'),
};
const references = z.array(z.guid().toLowerCase()).max(16).optional();
const never = new AbortController().signal;

function define<Input extends z.ZodObject>(
  name: string,
  description: string,
  input: Input,
  call: (deps: McpContext, caller: McpCaller, input: z.output<Input>) => Promise<CallToolResult>,
  isReadOnly = false,
): McpTool {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return {
    definition: {
      name,
      description,
      // The SDK's type does not allow the boolean schemas of JSON schema. These tools have none.
      inputSchema: { ...schema, type: 'object' } as Tool['inputSchema'],
      annotations: { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: false },
    },
    call: async (deps, caller, given) => call(deps, caller, input.parse(given)),
  };
}

const tools: readonly McpTool[] = [
  define(
    'generate_image',
    `Generates images from a description and stores them in the user's library. {images}`,
    z.object({
      prompt,
      ratio: ratio.optional().describe('Default: 1:1.'),
      ...named,
      references: references.describe('Images to start from or to combine, by assetId.'),
    }),
    (deps, { userId }, { references: sources = [], ...order }) => makeImages(deps, userId, { ...order, sources }),
  ),
  define(
    'edit_image',
    `Changes an image of the user's library and stores the result as a new one. {images}`,
    z.object({
      prompt,
      assetId: z.guid().toLowerCase().describe('As generate_image and list_assets return it.'),
      mask: mask.optional(),
      ratio: ratio.optional().describe('Default: the ratio of the image. Models without ratios for edits ignore it.'),
      ...named,
      references: references.describe('Images that the change refers to, by assetId.'),
    }),
    (deps, { userId }, { assetId, references: others = [], ...order }) =>
      makeImages(deps, userId, { ...order, sources: [assetId, ...others] }),
  ),
  define(
    'generate_video',
    `Generates a short video from a description, or from an image and a description. {videos} The video can be ready after this call ends; list_assets then returns it.`,
    z.object({
      prompt,
      ratio: ratio.optional().describe('Default: 16:9.'),
      duration: z.int().min(1).max(600).optional().describe('Seconds. Default: the model decides.'),
      firstFrame: z.guid().toLowerCase().optional().describe('The image that the video starts with, by assetId.'),
      model: named.model,
    }),
    (deps, { userId, onProgress }, order) => generateVideo(deps, userId, order, onProgress),
  ),
  define(
    'list_assets',
    "Lists the user's images and videos, newest first, with URLs that expire.",
    z.object({
      limit: z.int().min(1).max(50).default(20),
      cursor: z.string().max(200).optional().describe('The `nextCursor` of the previous page.'),
      kind: z.enum(['image', 'video']).optional(),
    }),
    (deps, { userId }, query) => listAssets(deps, userId, query, never),
    true,
  ),
  define(
    'save_memory',
    'Remembers something about the user for later conversations.',
    z.object({
      content: text(8000).describe('One statement, in the words of the user.'),
      type: z.enum(['preference', 'workflow', 'instruction', 'episodic']).default('preference'),
    }),
    (deps, { userId }, memory) => saveMemory(deps, userId, memory, never),
  ),
  define(
    'recall_memory',
    'Searches the stored facts about the user.',
    z.object({ query: text(8000) }),
    (deps, { userId }, search) => recallMemory(deps, userId, search, never),
    true,
  ),
];

/** With the models of the plan, and their prices. */
export function toolDefinitions({ images, videos }: Catalogue, plan: Plan): readonly Tool[] {
  return tools.map(({ definition }) => ({
    ...definition,
    description: definition.description
      ?.replace('{images}', () => describeModels(images, plan))
      .replace('{videos}', () => describeModels(videos, plan)),
  }));
}

export function findTool(name: string): McpTool | undefined {
  return tools.find(({ definition }) => definition.name === name);
}

// `list_assets`, `save_memory` and `recall_memory`: free, with the rights of the user.

async function listAssets(
  deps: McpContext,
  userId: string,
  query: { readonly limit: number; readonly cursor?: string | undefined; readonly kind?: string | undefined },
  signal: AbortSignal,
) {
  const page = await listLibrary(deps, userId, query, signal).catch((error: unknown) => {
    throw error instanceof Refused ? new ToolFailed('invalid_request', error.message) : error;
  });
  const idsOf = (kind: 'image' | 'video') =>
    page.assets.filter(({ mime }) => mime.startsWith('video/') === (kind === 'video')).map(({ assetId }) => assetId);
  const signed = await signAll(deps, userId, idsOf);
  const assets = page.assets.map((asset) => ({ ...asset, url: signed.get(asset.assetId)?.url ?? null }));
  const data = { assets, nextCursor: page.nextCursor };
  // Models read the text; the URLs are for programs, and long.
  const lines = page.assets.map(({ assetId, kind, createdAt }) => `${assetId} ${kind} ${createdAt}`);
  const more = page.nextCursor === null ? [] : [`For more, pass this cursor: ${page.nextCursor}`];
  return succeed([...lines, ...more].join('\n') || 'The library is empty.', data);
}

async function saveMemory(
  deps: McpContext,
  userId: string,
  fact: { readonly content: string; readonly type: string },
  signal: AbortSignal,
) {
  const { id, deduplicated } = await addMemory(deps, userId, fact, signal).catch((error: unknown) => {
    throw error instanceof MemoryRefused ? new ToolFailed(error.code, error.message) : error;
  });
  return succeed(deduplicated ? 'This is already stored.' : 'Remembered.', { memoryId: id, deduplicated });
}

async function recallMemory(
  deps: McpContext,
  userId: string,
  { query }: { readonly query: string },
  signal: AbortSignal,
) {
  const memories = (await searchMemory(deps, userId, query, signal)).map(({ content }) => content);
  return succeed(memories.join('\n') || 'No memories match.', { memories });
}

// `generate_video`: ordered and paid for as in a run. A video that takes longer than the call is finished by its job.

interface VideoCall {
  readonly prompt: string;
  readonly ratio?: Ratio | undefined;
  readonly duration?: number | undefined;
  /** An asset. */
  readonly firstFrame?: string | undefined;
  readonly model?: string | undefined;
}

const progressEveryMs = 2000;

async function generateVideo(
  deps: McpContext,
  userId: string,
  { model: name, ...wanted }: VideoCall,
  onProgress: (message: string) => void,
) {
  const chosen = modelFor(deps.catalogue.videos, name, { ...wanted, otherwise: ['16:9'] });
  if ('failure' in chosen) throw toolFailed(chosen.failure);
  if (wanted.firstFrame !== undefined) await assertOwn(deps, userId, [wanted.firstFrame]);
  await deps.prompts.assertAllowed(userId, [wanted.prompt]);
  const { model, ratio = '16:9' } = chosen;
  return deps.calls.track(async (closing) => {
    const id = await placeVideo(deps, userId, { ...ofMcp(userId), model, input: { ...wanted, ratio } });
    const telling = setInterval(() => onProgress('The video is being generated.'), progressEveryMs);
    const signal = AbortSignal.any([closing, AbortSignal.timeout(deps.videoWaitMs)]);
    const waiting = waitForEnd(deps, { userId, id }, signal).finally(() => clearInterval(telling));
    // The video is ordered and paid for, so the result names it, whatever ends the wait.
    const ended = await waiting.catch((error: unknown) => {
      deps.log.warn({ err: error }, 'could not wait for a video that was ordered over MCP');
      return undefined;
    });
    return describeVideo(id, model, ended);
  });
}

function describeVideo(videoId: string, { credits }: VideoModel, ended: Generation | undefined) {
  const assetId = videoAssetId(videoId);
  const [video] = ended?.items ?? [];
  if (video === undefined) {
    const text = `The video is still being generated. Its assetId will be ${assetId}. Once it is ready, list_assets returns it.`;
    return succeed(text, { status: 'processing', videoId, assetId, mime: 'video/mp4', url: null, credits });
  }
  if (video.failure !== null) throw toolFailed(video.failure);
  const { url } = video;
  const mime = video.mime ?? 'video/mp4';
  const data = { status: 'completed', videoId, assetId, mime, url, credits };
  return succeed(`The video is in the library. assetId: ${assetId}`, data, url ? [linkTo(url, assetId, mime)] : []);
}
