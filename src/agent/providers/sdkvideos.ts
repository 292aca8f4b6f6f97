/**
 * Videos by the AI SDK's video models: started, polled until they are done, and downloaded. What the provider calls the
 * operation is stored, so another process can continue to wait for it. The SDK has no call that cancels an operation.
 */
import type {
  Experimental_VideoModelV4VideoData as VideoData,
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
} from '@ai-sdk/provider';
import { z } from 'zod';
import {
  type Clip,
  type Image,
  OrderRefused,
  ProviderFailed,
  type Takes,
  type VideoGenerator,
  type VideoOrder,
} from './generators.ts';
import { explainSdkFailure } from './sdkfailures.ts';

export interface SdkVideoOptions {
  readonly model: VideoModelV4;
  /** Guarded and bounded, for clips. */
  readonly download: typeof fetch;
  readonly pollEveryMs: number;
  readonly takes: Takes;
}

const malformed = 'The video provider did not return a video.';
const maxRedirects = 5;

/** A stored operation, with the provider that knows it. */
const operationName = z.object({ provider: z.string(), operation: z.json() });

export function createSdkVideos({ model, download, pollEveryMs, takes }: SdkVideoOptions): VideoGenerator {
  const read = async (video: VideoData | undefined, signal: AbortSignal): Promise<Clip> => ({
    ...(await readClip(video, download, signal)),
    model: model.modelId,
  });
  return {
    pollEveryMs,
    takes,
    order: (order) =>
      explained(order.signal, async () => {
        if (model.doStart) {
          const call = callOf(order, undefined);
          const { operation, warnings } = await model.doStart(call);
          assertHonored(model, call, warnings);
          return { providerId: JSON.stringify({ provider: model.provider, operation }) };
        }
        // For models that cannot be polled, whose requests end with the signal.
        const call = callOf(order, order.signal);
        const result = await model.doGenerate?.(call);
        assertHonored(model, call, result?.warnings ?? []);
        return { clip: await read(result?.videos[0], order.signal) };
      }),
    isMade: (providerId, signal) =>
      explained(signal, async () => (await readState(model, providerId, signal)) !== undefined),
    download: ({ providerId, signal }) =>
      explained(signal, async () => read((await readState(model, providerId, signal))?.[0], signal)),
  };
}

/** The order was accepted without a part of what the user asked for, so its result would be another one. */
function assertHonored(
  { modelId }: VideoModelV4,
  call: VideoModelV4CallOptions,
  warnings: readonly { readonly type: string; readonly feature?: string }[],
): void {
  const ignored = warnings.find(
    ({ type, feature }) => type === 'unsupported' && call[feature as keyof VideoModelV4CallOptions] !== undefined,
  );
  if (ignored !== undefined) throw new OrderRefused(`The model ${modelId} has no setting \`${ignored.feature}\`.`);
}

async function explained<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw explainSdkFailure(error, 'video', malformed);
  }
}

/** The videos, or `undefined` while they are being made. */
async function readState(model: VideoModelV4, providerId: string, abortSignal: AbortSignal) {
  const state = await model.doStatus?.({ operation: readOperation(model, providerId), abortSignal });
  if (state?.status === 'error') throw new OrderRefused(`The video provider failed: ${state.error.slice(0, 300)}`);
  return state?.status === 'completed' ? state.videos : undefined;
}

function callOf(
  { prompt, ratio, duration, seed, firstFrame, references = [] }: VideoOrder,
  signal: AbortSignal | undefined,
): VideoModelV4CallOptions {
  const fileOf = ({ bytes, mime }: Image) => ({ type: 'file', data: bytes, mediaType: mime }) as const;
  return {
    prompt,
    n: 1,
    aspectRatio: ratio,
    resolution: undefined,
    duration,
    fps: undefined,
    seed,
    image: firstFrame && fileOf(firstFrame),
    frameImages: undefined,
    inputReferences: references.length === 0 ? undefined : references.map(fileOf),
    generateAudio: undefined,
    // The packages of fal and Replicate take 0 for no seed.
    providerOptions: seed === 0 ? { fal: { seed }, replicate: { seed } } : {},
    ...(signal && { abortSignal: signal }),
  };
}

function readOperation(model: VideoModelV4, stored: string) {
  const parsed = operationName.safeParse(parse(stored));
  if (!parsed.success || parsed.data.provider !== model.provider)
    throw new ProviderFailed('The video was requested from another provider.');
  return parsed.data.operation;
}

function parse(stored: string): unknown {
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}

async function readClip(video: VideoData | undefined, download: typeof fetch, signal: AbortSignal): Promise<Clip> {
  if (video?.type === 'binary') return { bytes: video.data, mime: video.mediaType };
  if (video?.type === 'base64') return { bytes: Buffer.from(video.data, 'base64'), mime: video.mediaType };
  if (video?.type !== 'url') throw new ProviderFailed(malformed);
  const response = await follow(video.url, download, signal);
  const mime = /^video\/[\w.+-]+/.exec(response.headers.get('content-type') ?? '')?.[0];
  return { bytes: await response.bytes(), mime: mime ?? video.mediaType };
}

/** Each redirect is a request of its own, so that it passes the guard. */
async function follow(url: string, download: typeof fetch, signal: AbortSignal): Promise<Response> {
  let target = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await download(target, { signal, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300) return response;
    if (location === null) break;
    target = new URL(location, target).href;
  }
  throw new ProviderFailed('The video provider redirected the download too often.');
}
