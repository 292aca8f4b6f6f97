import type { StoredMessage } from '../store/messagestore.ts';
import type { Run } from '../store/runstore.ts';
import type { EventWriter } from '../stream/eventwriter.ts';

/** The run that a tool works for. */
export interface ToolContext {
  readonly run: Run;
  readonly writer: EventWriter;
  /** The messages of the thread that show images, oldest first. */
  readonly findMessages: () => Promise<readonly StoredMessage[]>;
  /** A tool has made an image, which the model may look at in its next step. */
  readonly onImage: (assetId: string) => void;
}
