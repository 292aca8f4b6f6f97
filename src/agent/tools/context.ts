import type { Chunk } from '../stream/chunks.ts';
import type { StoredMessage } from '../store/messagestore.ts';
import type { Run } from '../runs/runs.ts';

/** What a tool is handed of the run that calls it. */
export interface ToolContext {
  readonly run: Run;
  readonly emit: (chunk: Chunk) => Promise<void>;
  /** Those of the thread that show pictures, oldest first. */
  readonly findMessages: () => Promise<readonly StoredMessage[]>;
  /** Something that the run depends on does not do its work: the run ends with this sentence, once it is told. */
  readonly fail: (reason: string) => void;
}
