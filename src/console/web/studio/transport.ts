/**
 * Between `useChat` and the agent service: a message starts a run, and the run's stream is read to its end however
 * often the connection is cut on the way (`Last-Event-ID`).
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { CallFailed } from '../calls.ts';
import type { User } from '../user.tsx';
import { readEvents } from './events.ts';

export interface TaskInfo {
  readonly taskId: string;
}

const triesWithoutProgress = 8;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export class AgentTransport implements ChatTransport<UIMessage> {
  /** A stream that is joined again begins at its first event. */
  readonly resumeStreamIsReplay = true;
  readonly #user: User;
  #taskId: string | undefined;

  constructor(user: User) {
    this.#user = user;
  }

  async sendMessages({
    chatId,
    messages,
    body,
    abortSignal,
  }: Parameters<ChatTransport<UIMessage>['sendMessages']>[0]): Promise<ReadableStream<UIMessageChunk>> {
    const message = messages.at(-1);
    if (message === undefined) throw new Error('There is no message to send.');
    const { id, role, parts } = message;
    const { taskId } = await this.#user.json<TaskInfo>('agent', '/task', {
      method: 'POST',
      json: { threadId: chatId, message: { id, role, parts }, ...body },
      signal: abortSignal,
    });
    return this.#read(taskId, abortSignal);
  }

  async reconnectToStream({
    chatId,
    abortSignal,
  }: Parameters<ChatTransport<UIMessage>['reconnectToStream']>[0]): Promise<ReadableStream<UIMessageChunk> | null> {
    const path = `/thread/${encodeURIComponent(chatId)}/current-task`;
    const { task } = await this.#user.json<{ readonly task: TaskInfo | null }>('agent', path);
    return task === null ? null : this.#read(task.taskId, abortSignal);
  }

  /** The run ends, and with it its stream; what was said stays. */
  async stopRun(): Promise<void> {
    if (this.#taskId !== undefined) await this.#user.send('agent', `/task/${this.#taskId}`, { method: 'DELETE' });
  }

  #read(taskId: string, abortSignal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    this.#taskId = taskId;
    const leaving = new AbortController();
    const signal = abortSignal === undefined ? leaving.signal : AbortSignal.any([abortSignal, leaving.signal]);
    const chunks = this.#chunksOf(taskId, signal);
    return new ReadableStream<UIMessageChunk>({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => leaving.abort(),
    });
  }

  async *#chunksOf(taskId: string, signal: AbortSignal): AsyncGenerator<UIMessageChunk> {
    let lastId: string | undefined;
    for (let tries = 0; !signal.aborted; tries++) {
      try {
        const response = await this.#user.send('agent', `/stream/${taskId}`, {
          headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
          signal,
        });
        if (response.body === null) return;
        for await (const { id, data } of readEvents(response.body)) {
          if (data === '[DONE]') return;
          lastId = id ?? lastId;
          tries = 0;
          yield JSON.parse(data);
        }
      } catch (error) {
        if (signal.aborted) return;
        const isFinal = error instanceof CallFailed && error.status >= 400 && error.status < 500;
        if (isFinal || tries >= triesWithoutProgress) throw error;
      }
      await pause(Math.min(250 * 2 ** tries, 5000));
    }
  }
}
