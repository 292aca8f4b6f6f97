/** What the model may do besides talking. Expected failures are outputs with a code, so that they can be told and kept. */
import type { ToolSet } from 'ai';
import type { ToolContext } from './context.ts';
import { type ImageToolDeps, imageTools } from './images.ts';
import { type MemoryToolDeps, memoryTools } from './memories.ts';
import { type VideoToolDeps, videoTools } from './videos.ts';

export type ToolDeps = ImageToolDeps & MemoryToolDeps & VideoToolDeps;

export function toolsOf(deps: ToolDeps, context: ToolContext): ToolSet {
  return { ...imageTools(deps, context), ...videoTools(deps, context), ...memoryTools(deps, context) };
}
