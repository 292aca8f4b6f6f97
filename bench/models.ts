/** Language models that say what a benchmark wants them to. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';

export function modelOf(speak: () => AsyncGenerator<LanguageModelV4StreamPart>): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not asked for')),
    doStream: async () => ({ stream: ReadableStream.from(speak()) }),
  };
}

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };

export const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  usage: { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
  finishReason: { unified: 'stop', raw: undefined },
};
