/** Images and videos by the AI SDK's models. */

import {
  APICallError,
  type ImageModelV4,
  type ImageModelV4CallOptions,
  InvalidResponseDataError,
  LoadAPIKeyError,
  type SharedV4ProviderOptions,
  type Experimental_VideoModelV4VideoData as VideoData,
  type Experimental_VideoModelV4 as VideoModelV4,
  type Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { parseJson } from '#platform/json.ts';
import { withDeadline } from '#platform/resilience.ts';
import {
  type Clip,
  type Generated,
  type Image,
  type ImageGenerator,
  OrderRefused,
  ProviderFailed,
  type Ratio,
  type Takes,
  type VideoGenerator,
  type VideoOrder,
} from './generators.ts';
import { describeImage, imageSizes } from './openaimedia.ts';

// Videos: started, polled until they are done, and downloaded. What the provider calls the operation is stored, so another
// process can continue to wait for it. The SDK has no call that cancels an operation.

interface SdkVideoOptions {
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
function assertHonored<Call extends object>(
  { modelId }: { readonly modelId: string },
  call: Call,
  warnings: readonly { readonly type: string; readonly feature?: string }[],
): void {
  const ignored = warnings.find(
    ({ type, feature }) => type === 'unsupported' && call[feature as keyof Call] !== undefined,
  );
  if (ignored !== undefined) throw new OrderRefused(`The model ${modelId} has no setting \`${ignored.feature}\`.`);
}

const fileOf = ({ bytes, mime }: Image) => ({ type: 'file', data: bytes, mediaType: mime }) as const;

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
  const parsed = operationName.safeParse(parseJson(stored));
  if (!parsed.success || parsed.data.provider !== model.provider)
    throw new ProviderFailed('The video was requested from another provider.');
  return parsed.data.operation;
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

// Images by the AI SDK's image models.

interface SdkImageOptions {
  readonly model: ImageModelV4;
  /** For edits. */
  readonly editModel: ImageModelV4;
  /** The models take a size in pixels and not an aspect ratio. */
  readonly takesSize: boolean;
  readonly takes: Takes;
  /** For an image, with all requests that it needs. */
  readonly timeoutMs: number;
}

type Order = Pick<ImageModelV4CallOptions, 'prompt'> & Partial<ImageModelV4CallOptions>;

export function createSdkImages({ model, editModel, takesSize, takes, timeoutMs }: SdkImageOptions): ImageGenerator {
  const shapeOf = (ratio: Ratio) => (takesSize ? { size: imageSizes[ratio] } : { aspectRatio: ratio });
  return {
    takes,
    generate: ({ prompt, ratio, seed, quality, signal }) =>
      make(model, { prompt, seed, ...shapeOf(ratio), providerOptions: qualityOf(quality) }, { timeoutMs, signal }),
    edit({ prompt, sources, mask, ratio, seed, quality, signal }) {
      // fal's endpoints named `…/edit` take a list of images, the others one.
      const fal = { useMultipleImages: editModel.modelId.endsWith('/edit') };
      const providerOptions = { fal, ...qualityOf(quality) };
      const order = { prompt, seed, files: sources.map(fileOf), mask: mask && fileOf(mask), providerOptions };
      return make(editModel, { ...order, ...(ratio && shapeOf(ratio)) }, { timeoutMs, signal });
    },
  };
}

/** Only OpenAI's and Azure's models have it, and both read it here. */
const qualityOf = (quality: string | undefined): SharedV4ProviderOptions =>
  quality === undefined ? {} : { openai: { quality } };

async function make(
  model: ImageModelV4,
  order: Order,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Image & Generated> {
  const defaults = { n: 1, size: undefined, aspectRatio: undefined, seed: undefined, files: undefined };
  const call = { ...defaults, mask: undefined, providerOptions: {}, ...order };
  const generate = async (abortSignal: AbortSignal) => model.doGenerate({ ...call, abortSignal });
  const { images, isRetryable, warnings } = await withDeadline(timeoutMs, generate, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw explainImageFailure(error);
  });
  assertHonored(model, order, warnings);
  const [first] = images;
  const bytes = typeof first === 'string' ? Buffer.from(first, 'base64') : first;
  if (bytes?.length) return { ...describeImage(bytes), model: model.modelId };
  if (isRetryable === false) throw new OrderRefused('The image provider refused: the image was filtered');
  throw new ProviderFailed('The image provider returned no image.');
}

function explainImageFailure(error: unknown): unknown {
  // Replicate's predictions that failed.
  if (InvalidResponseDataError.isInstance(error)) {
    const reason: unknown = Reflect.get(Object(error.data), 'error');
    if (typeof reason === 'string') return new OrderRefused(`The image provider failed: ${reason.slice(0, 300)}`);
  }
  return explainSdkFailure(error, 'image', 'The image provider returned no image.');
}

// Failures of the AI SDK's image and video models, for the user.

/** `malformed` describes a response that the package cannot read. */
function explainSdkFailure(error: unknown, what: string, malformed: string): Error {
  const known = findKnown(error);
  if (known !== undefined) return known;
  if (LoadAPIKeyError.isInstance(error))
    return new ProviderFailed(`The ${what} provider needs a key.`, { cause: error });
  const isResponse = APICallError.isInstance(error) && error.statusCode !== undefined;
  const message = isResponse ? malformed : `The ${what} provider could not be reached, or did not respond in time.`;
  return new ProviderFailed(message, { cause: error });
}

/** Packages wrap some errors of `fetch`. */
function findKnown(error: unknown): Error | undefined {
  if (error instanceof OrderRefused || error instanceof ProviderFailed) return error;
  return error instanceof Error && error.cause !== undefined ? findKnown(error.cause) : undefined;
}
