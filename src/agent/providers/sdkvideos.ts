/**
 * Videos by the AI SDK's video models: started, polled until they are done, and downloaded. What the provider calls the
 * operation is stored, so another process can continue to wait for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Experimental_VideoModelV4VideoData as VideoData,
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
} from '@ai-sdk/provider';
import { z } from 'zod';
import {
  type Clip,
  OrderRefused,
  ProviderFailed,
  type Ratio,
  type VideoGenerator,
  type VideoOrder,
} from './generators.ts';
import { explainSdkFailure } from './sdkfailures.ts';
import { maxWaitMs } from './videos.ts';

export interface SdkVideoOptions {
  readonly model: VideoModelV4;
  /** Guarded and bounded, for clips. */
  readonly download: typeof fetch;
  readonly pollEveryMs: number;
}

/** Ratios that the models of all providers take. */
const aspectRatios = {
  '1:1': '16:9',
  '4:3': '16:9',
  '16:9': '16:9',
  '3:4': '9:16',
  '9:16': '9:16',
} as const satisfies Record<Ratio, string>;

const malformed = 'The video provider did not return a video.';
const maxRedirects = 5;

/** A stored operation, with the provider that knows it. */
const operationName = z.object({ provider: z.string(), operation: z.json() });

export function createSdkVideos({ model, download, pollEveryMs }: SdkVideoOptions): VideoGenerator {
  return {
    async make(order) {
      const { signal } = order;
      try {
        const video = await (model.doStart ? pollVideo(model, order, pollEveryMs) : generateVideo(model, order));
        return { ...(await readClip(video, download, signal)), model: model.modelId };
      } catch (error) {
        signal.throwIfAborted();
        throw explainSdkFailure(error, 'video', malformed);
      }
    },
  };
}

function callOf({ prompt, ratio, signal }: VideoOrder): VideoModelV4CallOptions {
  return {
    prompt,
    n: 1,
    aspectRatio: aspectRatios[ratio],
    resolution: undefined,
    duration: undefined,
    fps: undefined,
    seed: undefined,
    image: undefined,
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: undefined,
    providerOptions: {},
    abortSignal: signal,
  };
}

/** For models that cannot be polled: a process that takes over orders the video again. */
async function generateVideo(model: VideoModelV4, order: VideoOrder): Promise<VideoData | undefined> {
  const result = await model.doGenerate?.(callOf(order));
  return result?.videos[0];
}

async function pollVideo(model: VideoModelV4, order: VideoOrder, pollEveryMs: number): Promise<VideoData | undefined> {
  const operation = order.providerId === null ? await startVideo(model, order) : readOperation(model, order.providerId);
  for (const startedAtMs = performance.now(); ; ) {
    const state = await model.doStatus?.({ operation, abortSignal: order.signal });
    if (state?.status === 'completed') return state.videos[0];
    if (state?.status === 'error') throw new OrderRefused(`The video provider failed: ${state.error.slice(0, 300)}`);
    if (performance.now() - startedAtMs > maxWaitMs) throw new ProviderFailed('The video provider timed out.');
    await sleep(pollEveryMs, undefined, { signal: order.signal });
  }
}

async function startVideo(model: VideoModelV4, order: VideoOrder) {
  const started = await model.doStart?.(callOf(order));
  const operation = started?.operation ?? null;
  await order.onOrdered(JSON.stringify({ provider: model.provider, operation }));
  return operation;
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
