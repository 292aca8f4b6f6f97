/**
 * The agent service behind the AI SDK's `useChat`: a chat's id is the thread's. A run goes on without its readers, so
 * that a chat survives cuts, a reload of the page and a second tab; `stop()` ends it.
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { agentCalls } from './agent/calls.ts';
import type { Access, CallOptions } from './calling.ts';
import { followRun } from './run.ts';
import { startPatiently, stopPatiently } from './tasks.ts';

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['sendMessages']>[0];
type ReconnectOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['reconnectToStream']>[0];

export class AgentChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** A stream that is found again is told from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #access: Access;
  /** Which reader of a chat came last. */
  readonly #newest = new Map<string, object>();

  constructor(options: Access) {
    this.#access = options;
  }

  /** Starts a run, or joins the one in flight (409). Rejects with `AtelierError`. */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, trigger, messageId, messages, abortSignal: signal } = options;
    const message = messages.at(-1);
    if (message?.role !== 'user') throw new TypeError('Only a message of the user starts a run.');
    // Said again, or answered again: it and what followed it give way.
    const rewindTo = trigger === 'regenerate-message' ? message.id : messageId;
    const request = {
      ...options.body,
      threadId: chatId,
      message: { id: message.id, role: 'user', parts: message.parts, ...metadataOf(message) },
      ...(rewindTo === undefined ? {} : { rewindTo }),
    };
    const access = this.#accessWith(options.headers);
    return this.#open(chatId, access, signal, () => startPatiently(access, request, signal));
  }

  /** The run in flight from its first event, or `null`. */
  async reconnectToStream(options: ReconnectOptions<Message>): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, abortSignal: signal } = options;
    const access = this.#accessWith(options.headers);
    return this.#open(chatId, access, signal, async () => {
      const { task } = await agentCalls(access).readCurrentTask(chatId, { signal });
      return task?.taskId ?? null;
    });
  }

  /** What the thread of a chat holds so far: for `useChat`'s `messages`. Rejects with `AtelierError`. */
  async readMessages(chatId: string, options?: CallOptions): Promise<Message[]> {
    const { messages } = await agentCalls(this.#access).readMessages(chatId, options);
    return messages as readonly unknown[] as Message[];
  }

  /** Follows the task that `find` finds, and stops it when the signal says so. */
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
      // `useChat` also gives a reader up when another takes its place, at once; that is no wish to stop.
      setTimeout(() => {
        if (this.#newest.get(chatId) === reader) void stopPatiently(access, found);
        leave();
      });
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    return streamOf(followRun(access, taskId, signal), () => {
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

/** Read as it is asked for: what nobody takes waits on its connection. */
function streamOf(chunks: AsyncGenerator<UIMessageChunk>, onEnd: () => void): ReadableStream<UIMessageChunk> {
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
      await chunks.return(undefined);
    },
  });
}
