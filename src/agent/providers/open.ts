/** Chooses who makes images and videos (docs/specification/agent.md#provider-packages). */
import { type ProviderName, packageOf, type SdkProviderName } from '../sdkpackages.ts';
import { type ImageGenerator, takesAll, type VideoGenerator } from './generators.ts';
import { createMediaFetch } from './mediafetch.ts';
import * as openai from './openaimedia.ts';
import { createSdkImages, createSdkVideos } from './sdkmedia.ts';
import { openSdkProvider } from './sdkproviders.ts';

export interface GeneratorSettings extends openai.ProviderSettings {
  readonly provider: ProviderName;
}

interface ImageSettings extends GeneratorSettings {
  readonly editName: string | undefined;
}

/** Changes the requests of a package. */
type Adapt = (send: typeof fetch) => typeof fetch;
const unchanged: Adapt = (send) => send;

const isOffline = (url: string) => url === 'offline';
const defaultPollMs = 3000;
const baseUrlOf = (url: string) => (isOffline(url) ? undefined : url);

/** Throws StartFault if the provider's package has no image models. */
export async function openImages(
  settings: ImageSettings,
  offline: ImageGenerator,
  timeoutMs = openai.imageTimeoutMs,
): Promise<ImageGenerator> {
  const { provider, url } = settings;
  if (provider !== 'openai-compatible') return openSdkImages({ ...settings, provider }, timeoutMs);
  return isOffline(url) ? offline : openai.openImageProvider(settings, timeoutMs);
}

export async function openSdkImages(
  settings: ImageSettings & { readonly provider: SdkProviderName },
  timeoutMs = openai.imageTimeoutMs,
  adapt = unchanged,
): Promise<ImageGenerator> {
  const { provider, url, apiKey, name = '', editName = name, headers } = settings;
  const baseUrl = baseUrlOf(url);
  const { takesSize = false, fixedOrigin, images } = packageOf(provider);
  const fetch = adapt(
    createMediaFetch({ what: 'image', baseUrl, fixedOrigin, timeoutMs, maxBytes: openai.maxImageBytes }),
  );
  const opened = await openSdkProvider({ provider, setting: 'IMAGE_MODEL_PROVIDER', apiKey, baseUrl, headers, fetch });
  return createSdkImages({
    model: opened.imageModel(name),
    editModel: opened.imageModel(editName),
    takesSize,
    takes: images?.(editName) ?? takesAll,
    timeoutMs,
  });
}

/** Throws StartFault if the provider's package has no video models. */
export async function openVideos(
  settings: GeneratorSettings,
  offline: VideoGenerator,
  pollEveryMs = defaultPollMs,
): Promise<VideoGenerator> {
  const { provider, url } = settings;
  if (provider !== 'openai-compatible') return openSdkVideos({ ...settings, provider }, pollEveryMs);
  return isOffline(url) ? offline : openai.openVideoProvider(settings, pollEveryMs);
}

export async function openSdkVideos(
  settings: GeneratorSettings & { readonly provider: SdkProviderName },
  pollEveryMs = defaultPollMs,
  adapt = unchanged,
): Promise<VideoGenerator> {
  const { provider, url, apiKey, name = '', headers } = settings;
  const baseUrl = baseUrlOf(url);
  const { fixedOrigin, videos } = packageOf(provider);
  const limits = { what: 'video', baseUrl, fixedOrigin, maxBytes: openai.maxClipBytes };
  const fetch = adapt(createMediaFetch({ ...limits, timeoutMs: openai.callTimeoutMs }));
  const download = createMediaFetch({ ...limits, timeoutMs: openai.contentTimeoutMs });
  const opened = await openSdkProvider({ provider, setting: 'VIDEO_MODEL_PROVIDER', apiKey, baseUrl, headers, fetch });
  return createSdkVideos({ model: opened.videoModel(name), download, pollEveryMs, takes: videos ?? takesAll });
}
