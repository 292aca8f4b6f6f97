/** The vocabulary of the agent service. Generated from its OpenAPI document by `npm run generate`. */

export interface TaskRequest {
  readonly threadId: string;
  readonly message?: UserMessage | null;
  /** Short form of a message that is one text. */
  readonly text?: string | null;
  /** A message of the thread: it and all after it are dropped. */
  readonly rewindTo?: string | null;
  readonly model?: string | null;
  /** Required with X-Internal-Key. */
  readonly userId?: string;
}

export interface StartedTask {
  readonly taskId: string;
  readonly threadId: string;
}

export interface TaskInfo {
  readonly taskId: string;
  readonly threadId: string;
  readonly userId: string;
  readonly status: 'running' | 'completed' | 'failed' | 'aborted';
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Why it failed. */
  readonly error: string | null;
}

export interface CurrentTask {
  readonly task: TaskInfo | null;
}

export interface ThreadMessages {
  /** v5 UIMessages, oldest first. */ readonly messages: readonly ThreadMessage[];
}

export interface VideosRetried {
  readonly success: true;
}

export interface UserMessage {
  /** Made when it is left out, or taken in the thread already. */ readonly id?: string;
  readonly role: 'user';
  readonly parts: readonly (
    | { readonly type: 'text'; readonly text: string }
    | {
        readonly type: 'file';
        readonly mediaType: string;
        readonly filename?: string;
        /** `asset:<assetId>` names a picture of the library; it is signed when messages are read. */
        readonly url: string;
      }
  )[];
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface ThreadMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly metadata: Readonly<Record<string, unknown>>;
}
