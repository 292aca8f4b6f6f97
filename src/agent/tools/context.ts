import type { Plan } from '#accounts/api.ts';
import type { Run } from '../runs/runstore.ts';
import type { EventWriter } from '../stream/eventwriter.ts';
import type { RunOptions } from '../tables.ts';
import type { StoredMessage } from '../threads/messagestore.ts';

/** A call of the model. Its id is unique in the run. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** The run that a tool works for. */
export interface ToolContext {
  readonly run: Run;
  readonly writer: EventWriter;
  /** Of the user when the run started. */
  readonly plan: Plan;
  /** Defaults of the tools. */
  readonly media: NonNullable<RunOptions['media']>;
  /** What the provider calls the model of the run. */
  readonly providerModel: string | undefined;
  /** The messages of the thread that show images, oldest first. */
  readonly findMessages: () => Promise<readonly StoredMessage[]>;
  /** Those that tools have made in this run, oldest first. The model may look at a new one in its next step. */
  readonly madeImages: string[];
  /** References of the images that a provider is making. If the run is stopped, they are canceled. */
  readonly imageOrders: Set<string>;
}
