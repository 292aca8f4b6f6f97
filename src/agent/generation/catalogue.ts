/** The image and video models that users choose from: who may use them, at what price, and what they can do (docs/generation.md). */
import { plans as allPlans, type Plan } from '#accounts/api.ts';
import { invalid } from '#platform/problem.ts';
import type { Failure, ModelInfo } from '../api.ts';
import { chainOf } from '../modelsfile.ts';
import type { ConfiguredModels } from '../operatorapi.ts';
import {
  type ImageGenerator,
  type Ratio,
  ratio,
  type Takes,
  takesAll,
  type VideoGenerator,
} from '../providers/generators.ts';
import type { RunOptions } from '../tables.ts';

export interface MediaModel {
  readonly id: string;
  readonly label: string;
  /** Of one image or video. */
  readonly credits: number;
  readonly plans: readonly Plan[];
  /** The id of the model that is tried when this one fails. */
  readonly fallback: string | undefined;
  readonly ratios: readonly Ratio[];
  readonly maxReferences: number;
  readonly takes: Takes;
  /** What the provider calls it. */
  readonly model?: string | undefined;
  /** In US dollars, what the operator pays for one. */
  readonly costUsd: number | undefined;
}

export interface ImageModel extends MediaModel {
  readonly kind: 'image';
  readonly maxCount: number;
  readonly generator: ImageGenerator;
}

export interface VideoModel extends MediaModel {
  readonly kind: 'video';
  /** Seconds. Empty: the model decides. */
  readonly durations: readonly number[];
  readonly generator: VideoGenerator;
}

/** The first of each kind is the default. */
export interface Catalogue {
  readonly images: readonly [ImageModel, ...ImageModel[]];
  readonly videos: readonly [VideoModel, ...VideoModel[]];
}

export const defaultPrices = { image: 2, video: 40 } as const;
export const everyRatio = ratio.options;
const defaultVideoPlans = allPlans.filter((plan) => plan !== 'free');

export function imageModel(
  generator: ImageGenerator,
  { id, label = id, ...changes }: Partial<ImageModel> & { readonly id: string },
): ImageModel {
  const { takes = takesAll } = generator;
  const limits = { takes, ratios: everyRatio, maxReferences: Math.min(4, takes.maxReferences), maxCount: 4 };
  const offer = { credits: defaultPrices.image, plans: allPlans, fallback: undefined, costUsd: undefined };
  return { kind: 'image', id, label, ...limits, ...offer, generator, ...changes };
}

export function videoModel(
  generator: VideoGenerator,
  { id, label = id, ...changes }: Partial<VideoModel> & { readonly id: string },
): VideoModel {
  const { takes = takesAll } = generator;
  const limits = { takes, ratios: everyRatio, maxReferences: 0, durations: [] };
  const offer = { credits: defaultPrices.video, plans: defaultVideoPlans, fallback: undefined, costUsd: undefined };
  return { kind: 'video', id, label, ...limits, ...offer, generator, ...changes };
}

/** Without a name: the default. Throws 400 for an unknown one. */
export function pickModel<Model extends MediaModel>(
  models: readonly [Model, ...Model[]],
  name?: string | null,
  field = 'body.model',
): Model {
  const found = name === undefined || name === null ? models[0] : models.find(({ id }) => id === name);
  if (found === undefined) throw invalid(field, `must be one of ${models.map(({ id }) => id).join(', ')}`);
  return found;
}

/** Throws 400 for defaults of a run that no model can honor. */
export function assertMedia(
  catalogue: Catalogue,
  { imageModel: image, videoModel: video, ratio, count = 1 }: RunMedia,
): void {
  const ofImages = pickModel(catalogue.images, image, 'body.media.imageModel');
  const models = [ofImages, pickModel(catalogue.videos, video, 'body.media.videoModel')];
  if (count > ofImages.maxCount) throw invalid('body.media.count', `must be at most ${ofImages.maxCount}`);
  const ratios = [...new Set(models.flatMap((model) => model.ratios))];
  if (ratio !== undefined && !ratios.some((one) => one === ratio))
    throw invalid('body.media.ratio', `must be one of ${ratios.join(', ')}`);
}

type RunMedia = NonNullable<RunOptions['media']>;

/** The model that a row names, or the default if it is no longer configured. */
export function modelOfRow<Model extends MediaModel>(models: readonly [Model, ...Model[]], id: string | null): Model {
  return models.find((model) => model.id === id) ?? models[0];
}

/** For the descriptions of tools: what a user of the plan can choose from. */
export function describeModels(models: readonly MediaModel[], plan: Plan, preferred?: string): string {
  const first = models.find(({ id }) => id === preferred) ?? models[0];
  const offered = models.filter(({ plans }) => plans.includes(plan));
  if (offered.length === 0) return "The user's plan includes none of its models.";
  const sorted = [...offered].sort((one, other) => Number(other === first) - Number(one === first));
  const texts = sorted.map(({ id, label, credits }) => `${id} (${label === id ? '' : `${label}, `}${credits} credits)`);
  return `Models, with the price of one: ${texts.join(', ')}.`;
}

/** The model of a tool call, and the ratio of its result; or why there is none. */
export function modelFor<Model extends ImageModel | VideoModel>(
  models: readonly [Model, ...Model[]],
  name: string | undefined,
  { otherwise, ...wanted }: Wanted & { readonly otherwise: readonly (string | undefined)[] },
): { readonly model: Model; readonly ratio: Ratio | undefined } | { readonly failure: Failure } {
  const refuse = (code: string, message: string) => ({ failure: { code, message, retryable: false } });
  const model = name === undefined ? models[0] : models.find(({ id }) => id === name);
  if (model === undefined)
    return refuse('unknown_model', `model must be one of ${models.map(({ id }) => id).join(', ')}`);
  const ratio = wanted.ratio ?? chooseRatio(model, otherwise);
  const unsupported = findUnsupported(model, { ...wanted, ratio });
  if (unsupported !== undefined) return refuse('unsupported', `${unsupported.field} ${unsupported.message}`);
  return { model, ratio: ratio as Ratio | undefined };
}

/** The first one that the model has, or its own first one. `undefined` among them: the ratio of the source. */
export function chooseRatio({ ratios }: MediaModel, usual: readonly (string | undefined)[]): Ratio | undefined {
  const found = usual.map((one) => ratios.find((ratio) => ratio === one)).find((one) => one !== undefined);
  return found ?? (usual.at(-1) === undefined ? undefined : ratios[0]);
}

/** The part of an order that not every model can honor. References are assets, or images. */
export interface Wanted {
  readonly n?: number | undefined;
  /** `undefined`: the ratio of the first reference. */
  readonly ratio?: string | undefined;
  readonly duration?: number | undefined;
  readonly seed?: number | undefined;
  readonly quality?: string | undefined;
  readonly mask?: unknown;
  readonly firstFrame?: unknown;
  readonly references?: readonly unknown[] | undefined;
}

/** The field of an order that the model cannot honor, and what it has instead. `undefined`: it can honor the order. */
export function findUnsupported(
  model: ImageModel | VideoModel,
  wanted: Wanted,
): { readonly field: keyof Wanted; readonly message: string } | undefined {
  const { id, ratios, maxReferences, takes } = model;
  const { n = 1, ratio, duration, references = [] } = wanted;
  const refuse = (field: keyof Wanted, message: string) => ({ field, message: `${message} for the model ${id}` });
  if (model.kind === 'image' && n > model.maxCount) return refuse('n', `must be at most ${model.maxCount}`);
  if (ratio !== undefined && !ratios.some((one) => one === ratio))
    return refuse('ratio', `must be one of ${ratios.join(', ')}`);
  if (model.kind === 'video' && duration !== undefined && model.durations.length > 0)
    if (!model.durations.includes(duration)) return refuse('duration', `must be one of ${model.durations.join(', ')}`);
  if (references.length > maxReferences)
    return refuse('references', maxReferences === 0 ? 'must be absent' : `must have at most ${maxReferences}`);
  const missing = options.find((option) => wanted[option] !== undefined && !takes[option]);
  return missing && refuse(missing, 'must be absent');
}

const options = ['seed', 'quality', 'mask', 'firstFrame'] as const satisfies readonly (keyof Wanted & keyof Takes)[];

/** The model and those of its fallbacks that can honor the order, each once. */
export function withFallbacks<Model extends ImageModel | VideoModel>(
  models: readonly Model[],
  first: Model,
  wanted: Wanted,
): readonly Model[] {
  return chainOf(models, first).filter((model) => model === first || findUnsupported(model, wanted) === undefined);
}

const optionsOf = { image: ['seed', 'quality', 'mask'], video: ['seed', 'firstFrame'] } as const;

/** As a user of this plan sees them. */
export function listMediaModels({ images, videos }: Catalogue, plan: Plan): readonly ModelInfo[] {
  const common = (model: ImageModel | VideoModel, isDefault: boolean) => {
    const { id, label, kind, credits, plans, ratios, maxReferences, takes } = model;
    return {
      ...{ id, label, credits, ratios: [...ratios], maxReferences, allowed: plans.includes(plan), default: isDefault },
      options: optionsOf[kind].filter((option) => takes[option]),
    };
  };
  return [
    ...images.map((model) => ({
      ...common(model, model === images[0]),
      kind: 'image' as const,
      maxCount: model.maxCount,
      durations: [],
    })),
    ...videos.map((model) => ({
      ...common(model, model === videos[0]),
      kind: 'video' as const,
      maxCount: 1,
      durations: [...model.durations],
    })),
  ];
}

/** As operators see them. */
export function configuredMedia({ images, videos }: Catalogue): ConfiguredModels['media'] {
  return [...images, ...videos].map((model) => {
    const { kind, id, label, credits, plans, fallback = null, costUsd = null } = model;
    const isDefault = model === images[0] || model === videos[0];
    return { kind, id, label, credits, plans: [...plans], fallback, costUsd, default: isDefault };
  });
}
