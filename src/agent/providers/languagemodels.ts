/** Opens one language model: on OpenAI's wire, or by a package of the AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import type { ModelEntry } from '../modelsfile.ts';
import { mergingProvider, withMergedDeltas } from './mergedframes.ts';
import { withoutRefusedFields } from './refusedfields.ts';
import { openSdkProvider } from './sdkproviders.ts';

type LanguageModelOptions = Pick<ModelEntry, 'id' | 'provider' | 'baseUrl' | 'model'> & {
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};

/** Retries and time limits are those of `createResilientModel`. Throws StartFault as `openSdkProvider` does. */
export async function openLanguageModel(options: LanguageModelOptions): Promise<LanguageModelV4> {
  const { id, provider = mergingProvider, baseUrl, model, apiKey, headers, query } = options;
  const fetch = withoutRefusedFields(createFetch(query));
  if (provider === mergingProvider) {
    return createOpenAICompatible({
      name: 'model',
      // MODELS_FILE is refused without it.
      baseURL: baseUrl ?? '',
      fetch: withMergedDeltas(fetch),
      includeUsage: true,
      supportsStructuredOutputs: true,
      headers,
      ...(apiKey && { apiKey }),
    }).chatModel(model);
  }
  const setting = `MODELS_FILE: the model ${id}`;
  const opened = await openSdkProvider({ provider, setting, apiKey, baseUrl, headers, fetch });
  return opened.languageModel(model);
}

/**
 * Adds the query, which packages have no option for. Redirects are refused, because a key in a header of its own would
 * follow them to another host.
 */
function createFetch(query: Readonly<Record<string, string>>): typeof fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return outgoingFetch(url, { ...init, redirect: 'error' });
  };
}
