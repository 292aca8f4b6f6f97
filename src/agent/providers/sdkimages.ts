/** Images by the AI SDK's image models. */
import {
  type ImageModelV4,
  type ImageModelV4CallOptions,
  InvalidResponseDataError,
  type SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { withDeadline } from '#platform/resilience/deadline.ts';
import {
  type Generated,
  type Image,
  type ImageGenerator,
  OrderRefused,
  ProviderFailed,
  type Ratio,
  type Takes,
} from './generators.ts';
import { describeImage, imageSizes } from './images.ts';
import { explainSdkFailure } from './sdkfailures.ts';

export interface SdkImageOptions {
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
      const fileOf = ({ bytes, mime }: Image) => ({ type: 'file', data: bytes, mediaType: mime }) as const;
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
  const ignored = warnings.find(
    (warning) => warning.type === 'unsupported' && order[warning.feature as keyof Order] !== undefined,
  );
  if (ignored?.type === 'unsupported')
    throw new OrderRefused(`The model ${model.modelId} has no setting \`${ignored.feature}\`.`);
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
