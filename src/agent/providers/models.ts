/** Which language model answers. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Values } from '#platform/config.ts';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { invalid } from '#platform/problem.ts';
import type { modelSettings } from '../config.ts';

export interface Models {
  /** Throws 400 for a name that is not among MODEL_NAME. */
  check(name: string | undefined): void;
  pick(name: string | undefined): ChosenModel;
}

export interface ChosenModel {
  readonly model: LanguageModelV4;
  /** For the metadata of the answer. */
  readonly label: { readonly model: string; readonly simulated?: true };
}

/** `offline` answers under any name, and says whose answer it is. */
export function openModels(settings: Values<typeof modelSettings>, offline: LanguageModelV4): Models {
  if (settings.url === 'offline') {
    const chosen: ChosenModel = { model: offline, label: { model: offline.modelId, simulated: true } };
    return { check: () => undefined, pick: () => chosen };
  }
  const { url: baseURL, apiKey, names } = settings;
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL,
    fetch: outgoingFetch,
    ...(apiKey ? { apiKey } : {}),
  });
  const nameOf = (name: string | undefined) => name ?? names[0] ?? '';
  return {
    check(name) {
      if (!names.includes(nameOf(name))) throw invalid('body.model', `must be one of ${names.join(', ')}`);
    },
    pick(name) {
      const model = nameOf(name);
      return { model: provider.chatModel(model) as LanguageModelV4, label: { model } };
    },
  };
}
