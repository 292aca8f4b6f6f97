/** The model's tools. Expected failures are outputs with a code, so that clients can show them. */

import type { ToolSet } from 'ai';
import type { AgentContext } from '../context.ts';
import type { ToolContext } from './context.ts';
import { imageTools } from './images.ts';
import { memoryTools } from './memories.ts';
import { videoTools } from './videos.ts';

export function toolsOf(deps: AgentContext, context: ToolContext): ToolSet {
  const media = { ...imageTools(deps, context), ...videoTools(deps, context) };
  return context.run.options?.memory === false ? media : { ...media, ...memoryTools(deps, context) };
}
