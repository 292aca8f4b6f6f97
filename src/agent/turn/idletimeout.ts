/** Fails a model that hangs: nothing else would ever end its run. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { withDeadline } from '#platform/resilience/deadline.ts';

/** The same model, whose answers have to begin and to go on within `idleMs`. */
export function withIdleTimeout(model: LanguageModelV4, idleMs: number): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: async (options) => {
      const result = await withDeadline(idleMs, async (signal) =>
        model.doStream({ ...options, abortSignal: either(signal, options.abortSignal) }),
      );
      return { ...result, stream: watch(result.stream, idleMs) };
    },
  };
}

function either(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other]);
}

function watch(stream: ReadableStream<LanguageModelV4StreamPart>, idleMs: number) {
  const reader = stream.getReader();
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      try {
        const { done, value } = await withDeadline(idleMs, () => reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        // Nobody reads the rest, and a failure to cancel changes nothing.
        reader.cancel(error).catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
