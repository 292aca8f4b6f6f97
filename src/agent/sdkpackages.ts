/** The AI SDK's provider packages that settings can name (docs/specification/agent.md#provider-packages). */
import { findPackageJSON } from 'node:module';
import type { Takes } from './providers/generators.ts';

export interface SdkPackage {
  /** On npm. */
  readonly name: string;
  /** The major version that implements the same interface as the AI SDK of this program. */
  readonly major: number;
  /** The exported function that creates the provider. */
  readonly creator: string;
  /** The name of the creator's option for the key. */
  readonly keyOption?: string;
  /** Its image models take a size in pixels and ignore an aspect ratio. */
  readonly takesSize?: true;
  /** An origin that the package requests even if it has another base URL. */
  readonly fixedOrigin?: string;
  /** What its image and video models accept beyond the prompt. Absent: it has none. */
  readonly images?: (editModel: string) => Takes;
  readonly videos?: Takes;
}

const takesNothing: Takes = { seed: false, quality: false, mask: false, firstFrame: false, maxReferences: 0 };
const openAiImages = () => ({ ...takesNothing, quality: true, mask: true, maxReferences: 16 });
/** They ignore the seed 0. */
const predictedVideos = { ...takesNothing, seed: true, firstFrame: true };

const sdkPackages = {
  anthropic: { name: '@ai-sdk/anthropic', major: 4, creator: 'createAnthropic' },
  azure: { name: '@ai-sdk/azure', major: 4, creator: 'createAzure', takesSize: true, images: openAiImages },
  deepseek: { name: '@ai-sdk/deepseek', major: 3, creator: 'createDeepSeek' },
  fal: {
    name: '@ai-sdk/fal',
    major: 3,
    creator: 'createFal',
    fixedOrigin: 'https://queue.fal.run',
    // Endpoints named `…/edit` take a list of images, the others one.
    images: (model) => ({ ...takesNothing, seed: true, mask: true, maxReferences: model.endsWith('/edit') ? 16 : 1 }),
    videos: predictedVideos,
  },
  google: {
    name: '@ai-sdk/google',
    major: 4,
    creator: 'createGoogle',
    images: () => ({ ...takesNothing, seed: true, maxReferences: 16 }),
    videos: { ...predictedVideos, maxReferences: 3 },
  },
  groq: { name: '@ai-sdk/groq', major: 4, creator: 'createGroq' },
  mistral: { name: '@ai-sdk/mistral', major: 4, creator: 'createMistral' },
  openai: { name: '@ai-sdk/openai', major: 4, creator: 'createOpenAI', takesSize: true, images: openAiImages },
  replicate: {
    name: '@ai-sdk/replicate',
    major: 3,
    creator: 'createReplicate',
    keyOption: 'apiToken',
    images: (model) =>
      /^black-forest-labs\/flux-2-/.test(model)
        ? { ...takesNothing, seed: true, maxReferences: 8 }
        : { ...takesNothing, seed: true, mask: true, maxReferences: 1 },
    videos: predictedVideos,
  },
  togetherai: {
    name: '@ai-sdk/togetherai',
    major: 3,
    creator: 'createTogetherAI',
    takesSize: true,
    images: () => ({ ...takesNothing, seed: true, maxReferences: 1 }),
  },
  xai: {
    name: '@ai-sdk/xai',
    major: 4,
    creator: 'createXai',
    images: () => ({ ...takesNothing, maxReferences: 1 }),
    videos: { ...takesNothing, firstFrame: true },
  },
} as const satisfies Readonly<Record<string, SdkPackage>>;

export type SdkProviderName = keyof typeof sdkPackages;
export const providerNames = ['openai-compatible', ...(Object.keys(sdkPackages) as SdkProviderName[])] as const;
export type ProviderName = (typeof providerNames)[number];

export const packageOf = (provider: SdkProviderName): SdkPackage => sdkPackages[provider];

/** Packages are optional: only those that settings name have to be installed. */
export function installCommand({ name, major }: SdkPackage): string {
  return `npm install --save-prod --omit=dev ${name}@${major}`;
}

/** Returns what is wrong, or `undefined` if the provider's package is installed. */
export function findMissingPackage(provider: ProviderName): string | undefined {
  if (provider === 'openai-compatible') return undefined;
  const wanted = packageOf(provider);
  if (isInstalled(wanted.name)) return undefined;
  return `needs the package ${wanted.name}, which is not installed: run \`${installCommand(wanted)}\``;
}

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}
