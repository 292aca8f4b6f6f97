/** Checks models that the AI SDK's packages open. */
import { APICallError } from '@ai-sdk/provider';
import { openLanguageModel } from '#agent/providers/languagemodels.ts';
import { openSdkImages, openSdkVideos } from '#agent/providers/open.ts';
import type { SdkProviderName } from '#agent/sdkpackages.ts';
import type { Config } from '#app/config.ts';
import { placeOf, reasonOf } from './probing.ts';

type LanguageModelOptions = Parameters<typeof openLanguageModel>[0];

/** Requests a word. */
export async function checkSdkModel(options: LanguageModelOptions, timeoutMs: number): Promise<void> {
  const model = await openLanguageModel(options);
  const content = [{ type: 'text' as const, text: 'Answer with one word: ready?' }];
  const abortSignal = AbortSignal.timeout(timeoutMs);
  const call = { prompt: [{ role: 'user' as const, content }], maxOutputTokens: 64, abortSignal };
  try {
    await model.doGenerate(call);
  } catch (error) {
    throw new Error(`${options.provider} ${explain(error)}; check the entry ${options.id} of MODELS_FILE`);
  }
}

function explain(error: unknown): string {
  if (!APICallError.isInstance(error)) return `is not responding (${reasonOf(Object(error))})`;
  const { statusCode, url } = error;
  if (statusCode === undefined) return `at ${placeOf(url)} is not responding (${reasonOf(error)})`;
  return statusCode === 401 || statusCode === 403
    ? `at ${placeOf(url)} rejects the key (${statusCode})`
    : `at ${placeOf(url)} returns ${statusCode}`;
}

type Named<Settings> = Settings & { readonly provider: SdkProviderName };

/** Providers of images and videos have no common request that is free, so the key is not checked. */
export async function describeImagePackage(settings: Named<Config['imageModel']>): Promise<string> {
  await openSdkImages(settings);
  return `${settings.name} by the package of ${settings.provider}; the key is not checked`;
}

export async function describeVideoPackage(settings: Named<Config['videoModel']>): Promise<string> {
  await openSdkVideos(settings);
  return `${settings.name} by the package of ${settings.provider}; the key is not checked`;
}
