/** Bounds the pauses of a model's stream. Deltas are merged before it, on OpenAI's wire, and after it, for the event log. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { startIdleDeadline } from '#platform/resilience/deadline.ts';

type Part = LanguageModelV4StreamPart;

interface IdleStreamOptions {
  /** How long the provider may pause. After that the stream fails with DeadlineExceeded. */
  readonly idleMs: number;
  /** Called when the stream has failed or is canceled, to end the provider's work. */
  readonly onBroken: (reason: unknown) => void;
}

/** In characters. Above it nothing is read from the provider until the reader catches up. */
const maxWaitingSize = 64 * 1024;
/** A provider that sends without a pause must not block other runs and the renewal of their leases. */
const maxBusyMs = 10;

/** A reader of the provider's stream. */
export type PartSource = Pick<ReadableStreamDefaultReader<Part>, 'read' | 'cancel'>;

/** Passes on `opening` and what `source` still has. Reads ahead, because a failure would discard what was not read. */
export function limitPauses(
  opening: readonly Part[],
  source: PartSource,
  { idleMs, onBroken }: IdleStreamOptions,
): ReadableStream<Part> {
  const waiting = [...opening];
  let waitingSize = waiting.reduce((sum, part) => sum + sizeOf(part), 0);
  let end: { readonly error?: unknown } | undefined;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const finish = (how: { readonly error?: unknown }) => {
    end ??= how;
    notify();
  };

  async function readSource(): Promise<void> {
    const idle = startIdleDeadline(idleMs);
    let yieldedAtMs = performance.now();
    try {
      while (end === undefined) {
        const { done, value } = await idle.race(source.read());
        if (done) return finish({});
        waiting.push(value);
        waitingSize += sizeOf(value);
        notify();
        idle.touch();
        if (performance.now() - yieldedAtMs > maxBusyMs) {
          await yieldToEventLoop();
          yieldedAtMs = performance.now();
        }
        if (waitingSize > maxWaitingSize) idle.pause();
        while (waitingSize > maxWaitingSize && end === undefined) await changed.promise;
        idle.touch();
      }
    } catch (error) {
      const isFirst = end === undefined;
      finish({ error });
      if (isFirst) onBroken(error);
    } finally {
      idle.stop();
    }
  }

  return new ReadableStream<Part>(
    {
      start: () => void readSource(),
      async pull(controller) {
        while (waiting.length === 0 && end === undefined) await changed.promise;
        const next = waiting.shift();
        if (next !== undefined) {
          waitingSize -= sizeOf(next);
          controller.enqueue(next);
          notify();
        } else if (end !== undefined && 'error' in end) controller.error(end.error);
        else controller.close();
      },
      cancel(reason) {
        finish({});
        onBroken(reason);
        return source.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

const sizeOf = (part: Part) => ('delta' in part ? part.delta.length : 0);
