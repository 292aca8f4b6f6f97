/** The model's tools. Expected failures are outputs with a code, so that clients can show them. */
import type { ToolSet } from 'ai';
import type { ToolContext } from './context.ts';
import { type ImageToolDeps, imageTools } from './images.ts';
import { type MemoryToolDeps, memoryTools } from './memories.ts';
import { type VideoToolDeps, videoTools } from './videos.ts';

export type ToolDeps = ImageToolDeps & MemoryToolDeps & VideoToolDeps;

export function toolsOf(deps: ToolDeps, context: ToolContext): ToolSet {
  const media = { ...imageTools(deps, context), ...videoTools(deps, context) };
  return context.run.options?.memory === false ? media : { ...media, ...memoryTools(deps, context) };
}
