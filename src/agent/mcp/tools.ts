/** The tools that MCP clients see: names, descriptions and inputs (docs/specification/agent.md#mcp-server). */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Plan } from '#accounts/api.ts';
import { findUnstorable } from '#platform/storable.ts';
import { type Catalogue, describeModels } from '../generation/catalogue.ts';
import { ratio } from '../providers/generators.ts';
import { editImage, generateImage, type ImageDeps } from './images.ts';
import { listAssets, type RecordDeps, recallMemory, saveMemory } from './records.ts';
import { generateVideo, type VideoCallDeps } from './videos.ts';

export type McpToolDeps = ImageDeps & VideoCallDeps & RecordDeps;

export interface McpCaller {
  readonly userId: string;
  readonly onProgress: (message: string) => void;
}

interface McpTool {
  readonly definition: Tool;
  /** Throws a ZodError for a wrong input. */
  readonly call: (deps: McpToolDeps, caller: McpCaller, input: unknown) => Promise<CallToolResult>;
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
  call: (deps: McpToolDeps, caller: McpCaller, input: z.output<Input>) => Promise<CallToolResult>,
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
    (deps, { userId }, order) => generateImage(deps, userId, order),
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
    (deps, { userId }, order) => editImage(deps, userId, order),
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
