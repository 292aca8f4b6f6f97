import type { StoredMessage } from '../store/messagestore.ts';
import type { Run } from '../store/runstore.ts';
import type { EventWriter } from '../stream/eventwriter.ts';

/** The run that a tool works for. */
export interface ToolContext {
  readonly run: Run;
  readonly writer: EventWriter;
  /** The messages of the thread that show pictures, oldest first. */
  readonly findMessages: () => Promise<readonly StoredMessage[]>;
  /** Ends the run with this reason after the tool's output is written. */
  readonly fail: (reason: string) => void;
}
