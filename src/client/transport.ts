/**
 * The agent service as a transport for the AI SDK's `useChat`. A chat's id is the thread's id. A run continues without readers, so a
 * chat survives interruptions, a page reload and a second tab. `stop()` ends it.
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { agentCalls } from './agent/calls.ts';
import type { Access, CallOptions } from './calling.ts';
import { followRun } from './run.ts';
import { startWithRetries, stopWithRetries } from './tasks.ts';

export { type AtelierMedia, type AtelierTools, type AtelierUIMessage, assetPart, mediaOf } from './messages.ts';

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['sendMessages']>[0];
type ReconnectOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['reconnectToStream']>[0];

export class AgentChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** A resumed stream is replayed from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #access: Access;
  /** The latest reader of each chat. */
  readonly #newest = new Map<string, object>();

  constructor(options: Access) {
    this.#access = options;
  }

  /** Starts a run. Rejects with `AtelierError`, and with `ThreadBusy` if another run is in progress: `useChat` still shows the message. */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, trigger, messageId, messages, abortSignal: signal } = options;
    const message = messages.at(-1);
    if (message?.role !== 'user') throw new TypeError('Only a message of the user starts a run.');
    // An edited or regenerated message replaces the old one and everything after it.
    const rewindTo = trigger === 'regenerate-message' ? message.id : messageId;
    const request = {
      ...options.body,
      threadId: chatId,
      message: { id: message.id, role: 'user', parts: message.parts, ...metadataOf(message) },
      ...(rewindTo === undefined ? {} : { rewindTo }),
    };
    const access = this.#accessWith(options.headers);
    return this.#open(chatId, access, signal, () => startWithRetries(access, request, signal));
  }

  /** Returns the run in progress from its first event, or `null`. */
  async reconnectToStream(options: ReconnectOptions<Message>): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, abortSignal: signal } = options;
    const access = this.#accessWith(options.headers);
    return this.#open(chatId, access, signal, async () => {
      const { task } = await agentCalls(access).readCurrentTask(chatId, {}, { signal });
      return task?.taskId ?? null;
    });
  }

  /** Returns the messages of a thread so far, for `useChat`'s `messages`. Rejects with `AtelierError`. */
  async readMessages(chatId: string, options?: CallOptions): Promise<Message[]> {
    const { messages } = await agentCalls(this.#access).readMessages(chatId, {}, options);
    return messages as readonly unknown[] as Message[];
  }

  /** Follows the task that `find` returns, and stops it if the signal aborts. */
  async #open<Found extends string | null>(
    chatId: string,
    access: Access,
    signal: AbortSignal | undefined,
    find: () => Promise<Found>,
  ): Promise<ReadableStream<UIMessageChunk> | (null & Found)> {
    const reader = {};
    this.#newest.set(chatId, reader);
    const leave = () => {
      if (this.#newest.get(chatId) === reader) this.#newest.delete(chatId);
    };
    let taskId: string | null = null;
    try {
      taskId = await find();
    } finally {
      if (taskId === null) leave();
    }
    if (taskId === null) return null as null & Found;
    const found = taskId;
    const onAbort = () => {
      // `useChat` also aborts a reader when another replaces it at once, which must not stop the run.
      setTimeout(() => {
        if (this.#newest.get(chatId) === reader) void stopWithRetries(access, found);
        leave();
      });
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    // Unlike an abort of the caller's signal, the end of reading does not stop the run.
    const reading = new AbortController();
    const either = signal === undefined ? reading.signal : AbortSignal.any([signal, reading.signal]);
    return streamOf(followRun(access, taskId, either), reading, () => {
      if (signal?.aborted) return;
      signal?.removeEventListener('abort', onAbort);
      leave();
    });
  }

  #accessWith(headers: Headers | Record<string, string> | undefined): Access {
    if (headers === undefined) return this.#access;
    return { ...this.#access, headers: { ...this.#access.headers, ...Object.fromEntries(new Headers(headers)) } };
  }
}

const metadataOf = ({ metadata }: UIMessage) => (typeof metadata === 'object' && metadata !== null ? { metadata } : {});

/** Reads on demand, so unread data stays in its connection. `reading`: aborted if the reader cancels. */
function streamOf(
  chunks: AsyncGenerator<UIMessageChunk>,
  reading: AbortController,
  onEnd: () => void,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    async cancel() {
      onEnd();
      // A generator returns only between its events. The abort also ends the wait for the next one.
      reading.abort();
      await chunks.return(undefined);
    },
  });
}
