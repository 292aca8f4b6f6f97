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

export const chunksPerRun = 2000;
/** Of a run that calls tools. Each of its steps but the last ends with a call. */
export const callsPerRun = 5;
export const wordsPerStep = 300;

/** An answer of so many words, without a pause. */
export async function* chunksOf(count: number): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  for (let index = 0; index < count; index++) yield { type: 'text-delta', id: 't', delta: ' word' };
  yield { type: 'text-end', id: 't' };
  yield finish;
}
