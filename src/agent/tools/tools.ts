/** What the model may do besides talking. Expected failures are outputs with a code, so that they can be told and kept. */
import type { ToolSet } from 'ai';
import type { Chunk } from '../chunks.ts';
import type { Run } from '../runs.ts';
import type { StoredMessage } from '../store.ts';
import { type ImageToolDeps, imageTools } from './images.ts';
import { type MemoryToolDeps, memoryTools } from './memories.ts';
import { type VideoToolDeps, videoTools } from './videos.ts';

export type ToolDeps = ImageToolDeps & MemoryToolDeps & VideoToolDeps;

/** Of one run. */
export interface ToolContext {
  readonly run: Run;
  readonly emit: (chunk: Chunk) => Promise<void>;
  readonly messages: readonly StoredMessage[];
  /** Something that the run depends on does not do its work: the run ends with this sentence, once it is told. */
  readonly fail: (reason: string) => void;
}

export function toolsOf(deps: ToolDeps, context: ToolContext): ToolSet {
  return { ...imageTools(deps, context), ...videoTools(deps, context), ...memoryTools(deps, context) };
}
