/** Opens the AI SDK's provider packages that settings name (docs/specification/agent.md#provider-packages). */
import type {
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  Experimental_VideoModelV4 as VideoModelV4,
} from '@ai-sdk/provider';
import { StartFault } from '#platform/lifecycle.ts';
import { installCommand, packageOf, type SdkProviderName } from '../sdkpackages.ts';

export interface SdkProviderOptions {
  readonly provider: SdkProviderName;
  /** The setting that named the provider, for faults. */
  readonly setting: string;
  /** Without one, the package reads its own environment variable. */
  readonly apiKey: string | undefined;
  /** Without one, the package's own. */
  readonly baseUrl: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch: typeof fetch;
}

/** Each throws StartFault if the package has no model of this kind. */
export interface SdkProvider {
  languageModel(id: string): LanguageModelV4;
  imageModel(id: string): ImageModelV4;
  videoModel(id: string): VideoModelV4;
}

/** Throws StartFault if the package is not installed or has another version. */
export async function openSdkProvider(options: SdkProviderOptions): Promise<SdkProvider> {
  const { provider: name, setting, apiKey, baseUrl, headers, fetch } = options;
  const wanted = packageOf(name);
  const fault = (what: string, cause?: unknown) => new StartFault(`${setting}: ${what}.`, { cause });
  // Packages warn about each option that a model ignores, on standard error and for each call.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const loaded: unknown = await import(wanted.name).catch((cause: unknown) => {
    throw fault(`the package ${wanted.name} is not installed: run \`${installCommand(wanted)}\``, cause);
  });
  const create: unknown = Reflect.get(Object(loaded), wanted.creator);
  const provider: unknown =
    typeof create === 'function' &&
    create({
      fetch,
      ...(apiKey && { [wanted.keyOption ?? 'apiKey']: apiKey }),
      ...(baseUrl && { baseURL: baseUrl }),
      ...(headers && { headers }),
    });
  if (!isProvider(provider))
    throw fault(`${wanted.name} has a different version than ${wanted.major}: run \`${installCommand(wanted)}\``);
  /** Packages throw if they have no such model, and replicate's if there is no key. */
  const open = <Model>(kind: string, find: () => Model): Model => {
    try {
      return find();
    } catch (cause) {
      const isKeyMissing = cause instanceof Error && cause.name === 'AI_LoadAPIKeyError';
      throw fault(isKeyMissing ? `${wanted.name} needs a key` : `${wanted.name} has no ${kind} models`, cause);
    }
  };
  return {
    languageModel: (id) => open('language', () => provider.languageModel(id)),
    imageModel: (id) => open('image', () => provider.imageModel(id)),
    videoModel: (id) =>
      open('video', () => {
        const find: unknown = Reflect.get(provider, 'videoModel');
        const model: unknown = typeof find === 'function' && find(id);
        if (!isVideoModel(model)) throw new Error('it has none');
        return model;
      }),
  };
}

function isProvider(value: unknown): value is ProviderV4 {
  return hasMethod(value, 'languageModel') && Reflect.get(Object(value), 'specificationVersion') === 'v4';
}

function isVideoModel(value: unknown): value is VideoModelV4 {
  return hasMethod(value, 'doGenerate') || (hasMethod(value, 'doStart') && hasMethod(value, 'doStatus'));
}

const hasMethod = (value: unknown, name: string) => typeof Reflect.get(Object(value), name) === 'function';
