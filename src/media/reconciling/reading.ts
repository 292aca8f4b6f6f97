/** Reads files in a thread, which exists while there are files to read. */
import { Worker } from 'node:worker_threads';
import type { ReadingReply, ReadingRequest, SeenFile } from './messages.ts';

export interface Reader {
  /** `undefined`: there is no such file. Rejects if it cannot be read, and when the reader is closed. */
  look(task: ReadingRequest): Promise<SeenFile | undefined>;
  /** Ends the current reads. */
  close(): Promise<void>;
}

/** Starting a thread takes longer than reading a file. */
const idleMs = 1000;

export function createReader(): Reader {
  /** In the order of the thread's replies. */
  const waiting: PromiseWithResolvers<SeenFile | undefined>[] = [];
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  function start(): Worker {
    const worker = new Worker(new URL('./thread.ts', import.meta.url));
    worker.on('message', (reply: ReadingReply) => {
      const pending = waiting.shift();
      if ('failure' in reply) pending?.reject(new Error(`the file cannot be read (${reply.failure})`));
      else pending?.resolve(reply.file);
      if (waiting.length === 0) idle = setTimeout(() => void stop(), idleMs).unref();
    });
    worker.on('error', (error: Error) => abandon(worker, error));
    worker.on('exit', () => abandon(worker, new Error('the reading thread ended')));
    return worker;
  }

  function abandon(worker: Worker, error: Error): void {
    if (thread !== worker) return;
    thread = undefined;
    for (const pending of waiting.splice(0)) pending.reject(error);
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    if (ending === undefined) return;
    abandon(ending, new Error('the reader is closed'));
    await ending.terminate();
  }

  return {
    look: (task) => {
      if (isClosed) return Promise.reject(new Error('the reader is closed'));
      clearTimeout(idle);
      thread ??= start();
      thread.postMessage(task);
      const pending = Promise.withResolvers<SeenFile | undefined>();
      waiting.push(pending);
      return pending.promise;
    },
    close: () => {
      isClosed = true;
      return stop();
    },
  };
}
