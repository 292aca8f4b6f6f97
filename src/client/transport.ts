/**
 * The agent service as a transport for the AI SDK's `useChat`. A chat's id is the thread's id. A run continues without readers, so a
 * chat survives interruptions, a page reload and a second tab. `stop()` ends it.
 */
import type { ChatTransport, FileUIPart, UIMessage, UIMessageChunk } from 'ai';
import { agentCalls } from './agent/calls.ts';
import type { Access, CallOptions } from './calling.ts';
import type { Asset } from './media/api.ts';
import { followRun } from './run.ts';
import { type StartedRun, startWithRetries, stopWithRetries } from './tasks.ts';

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

  /** Starts a run, or goes on after the user has answered approvals. Rejects with `AtelierError`, and with `ThreadBusy` if another run is in progress: `useChat` still shows the message. */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, trigger, messageId, messages, abortSignal: signal } = options;
    const message = messages.at(-1);
    const answers = message === undefined ? [] : answersIn(message);
    if (answers.length > 0) {
      const access = this.#accessWith(options.headers);
      const request = { threadId: chatId, approvals: answers };
      return this.#open(chatId, access, signal, () => startWithRetries(access, request, signal));
    }
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
      return task;
    });
  }

  /** Returns the messages of a thread so far, for `useChat`'s `messages`. Rejects with `AtelierError`. */
  async readMessages(chatId: string, options?: CallOptions): Promise<Message[]> {
    const { messages } = await agentCalls(this.#access).readMessages(chatId, {}, options);
    return messages as readonly unknown[] as Message[];
  }

  /** Follows the run that `find` returns, and stops it if the signal aborts. */
  async #open<Found extends StartedRun | null>(
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
    let run: StartedRun | null = null;
    try {
      run = await find();
    } finally {
      if (run === null) leave();
    }
    if (run === null) return null as null & Found;
    const { taskId, lastEventId } = run;
    const onAbort = () => {
      // `useChat` also aborts a reader when another replaces it at once, which must not stop the run.
      setTimeout(() => {
        if (this.#newest.get(chatId) === reader) void stopWithRetries(access, taskId);
        leave();
      });
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    // Unlike an abort of the caller's signal, the end of reading does not stop the run.
    const reading = new AbortController();
    const either = signal === undefined ? reading.signal : AbortSignal.any([signal, reading.signal]);
    return streamOf(followRun(access, taskId, either, lastEventId), reading, () => {
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

/** Of the tool calls that the user has approved or denied since. */
function answersIn({ role, parts }: UIMessage) {
  if (role !== 'assistant') return [];
  return parts.flatMap((part) => {
    if (!('approval' in part) || part.state !== 'approval-responded') return [];
    const { id: approvalId, approved, reason } = part.approval;
    return [{ approvalId, approved, ...(reason !== undefined && { reason }) }];
  });
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

// The messages of the agent, typed for `useChat`: tools whose outputs a page can show, and attachments.

/** What a tool that makes media returns, and what a `data-video` part shows. */
export interface AtelierMedia {
  readonly kind: 'image' | 'video';
  /** `null` until it is made, and if it failed. */
  readonly assetId: string | null;
  /** A video is `processing` before it is `completed`, `failed` or `canceled`. */
  readonly status: string;
  /** Signed, and valid for a limited time. `null` if there is no file or the reader may not see it. */
  readonly url: string | null;
  /** A small version of an image, signed like `url`. */
  readonly thumbUrl?: string;
  readonly mime?: string | null;
  readonly failure?: { readonly code: string; readonly message: string; readonly [key: string]: unknown };
  /** Identifies a video. */
  readonly videoId?: string;
}

interface MediaTool {
  readonly input: { readonly prompt?: string; readonly [key: string]: unknown };
  readonly output: AtelierMedia;
}

/** The tools whose outputs are media. Other tools have parts of the same shape with an output of their own. */
export type AtelierTools = {
  readonly generateImage: MediaTool;
  readonly editImage: MediaTool;
  readonly generateVideo: MediaTool;
};

/** A message of a thread, for `useChat<AtelierUIMessage>`. */
export type AtelierUIMessage = UIMessage<Record<string, unknown>, { video: AtelierMedia }, AtelierTools>;

/** Returns the media that a part of a message shows: the output of a tool, the state of a video, or an attached image or video. */
export function mediaOf(part: AtelierUIMessage['parts'][number]): AtelierMedia | undefined {
  if (part.type === 'file') return attachedMedia(part);
  const shown: unknown = part.type === 'data-video' ? part.data : 'output' in part ? part.output : undefined;
  const kind: unknown = Reflect.get(Object(shown), 'kind');
  return kind === 'image' || kind === 'video' ? (shown as AtelierMedia) : undefined;
}

function attachedMedia({ mediaType, url, providerMetadata }: FileUIPart): AtelierMedia | undefined {
  const [kind] = mediaType.split('/');
  if (kind !== 'image' && kind !== 'video') return undefined;
  // Browsers cannot load an asset: URL. Messages have one only while the media service does not answer.
  const shown = url.startsWith('asset:') ? null : url;
  return { assetId: null, ...providerMetadata?.atelier, kind, status: 'completed', url: shown, mime: mediaType };
}

/**
 * Returns the part that attaches an asset to a message. `url` is what the page shows until it reads the thread again: a signed URL or
 * a `blob:` URL of the local file. The service identifies the asset by its id.
 */
export function assetPart(
  { assetId, mime }: Pick<Asset, 'assetId' | 'mime'>,
  url: string,
  filename?: string,
): FileUIPart {
  const named = filename === undefined ? {} : { filename };
  return { type: 'file', mediaType: mime, url, ...named, providerMetadata: { atelier: { assetId } } };
}
