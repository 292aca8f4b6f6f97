/** Sends requests to the screening thread. Starts it when needed, and replaces it if it died or does not respond. */
import { Worker } from 'node:worker_threads';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { ExactDigests, Listed, Outcomes, ScreeningReply, ScreeningRequest, Task } from './messages.ts';
import type { PdqHash, Raster } from './pdq.ts';

export interface Matcher {
  hash(raster: Raster): Promise<PdqHash>;
  /** `undefined`: neither list contains it. */
  findExact(digests: ExactDigests): Promise<Listed | undefined>;
  /** Returns the nearest hash within 31 bits. `pdq`: hex. */
  findNearest(pdq: string): Promise<Listed | undefined>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<Outcomes[Task['kind']]>>;
  /** Requests without a reply, those whose caller gave up included. */
  unanswered: number;
  /** When the thread last responded, by the monotonic clock. */
  seenAtMs: number;
}

/** The limit for callers, because a file system can hang. Reading a list of many millions continues without them. */
const answerTimeoutMs = 10_000;
/** A thread without a reply for this long is terminated. */
const silenceMs = 60_000;

/** `folder`: the folder of the lists; without one they are empty. Every method rejects if the thread fails. */
export function createMatcher(folder: string | undefined): Matcher {
  let current: Thread | undefined;
  let lastId = 0;

  function start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: { folder } });
    const thread: Thread = { worker, waiting: new Map(), unanswered: 0, seenAtMs: performance.now() };
    worker.on('message', (reply: ScreeningReply) => {
      thread.unanswered -= 1;
      thread.seenAtMs = performance.now();
      const caller = thread.waiting.get(reply.id);
      thread.waiting.delete(reply.id);
      if ('failure' in reply) caller?.reject(new Error(reply.failure));
      else caller?.resolve(reply.outcome);
    });
    worker.on('error', (error) => abandon(thread, error));
    worker.on('exit', () => abandon(thread, new Error('the screening thread ended')));
    // Last: each listener references the thread, which would keep the process alive.
    worker.unref();
    return thread;
  }

  /** Rejects waiting callers; the next request starts another thread. */
  function abandon(thread: Thread, reason: unknown): void {
    if (current === thread) current = undefined;
    for (const caller of thread.waiting.values()) caller.reject(reason);
    thread.waiting.clear();
    void thread.worker.terminate();
  }

  async function send<Kind extends Task['kind']>(task: Task & { readonly kind: Kind }): Promise<Outcomes[Kind]> {
    current ??= start();
    const thread = current;
    const request: ScreeningRequest = { id: ++lastId, task };
    const answer = Promise.withResolvers<Outcomes[Task['kind']]>();
    if (thread.unanswered === 0) thread.seenAtMs = performance.now();
    // First: if it throws, there is nothing to wait for.
    thread.worker.postMessage(request);
    thread.unanswered += 1;
    thread.waiting.set(request.id, answer);
    try {
      return (await withDeadline(answerTimeoutMs, () => answer.promise)) as Outcomes[Kind];
    } catch (error) {
      const hasTimedOut = thread.waiting.delete(request.id);
      if (hasTimedOut && performance.now() - thread.seenAtMs > silenceMs) abandon(thread, error);
      throw error;
    }
  }

  return {
    hash: (raster) => send({ kind: 'hash', raster }),
    findExact: (digests) => send({ kind: 'exact', digests }),
    findNearest: (pdq) => send({ kind: 'nearest', pdq }),
    close: async () => {
      const thread = current;
      current = undefined;
      if (thread) abandon(thread, new Error('the screening thread was closed'));
      await thread?.worker.terminate();
    },
  };
}
