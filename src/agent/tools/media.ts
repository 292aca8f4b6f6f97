/** The model's tools that make images and videos. Expected failures are outputs with a code, so that clients can show them. */

import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import { isSettled, releaseCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import { transaction } from '#platform/db/db.ts';
import type { Failure, MediaOutput, VideoOutput } from '../api.ts';
import { assetOf, madeImagesOf } from '../attachments.ts';
import { exceedsRun, imageReference, runLimit } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import { describeModels, type ImageModel, modelFor } from '../generation/catalogue.ts';
import { waitForEnd } from '../generation/generations.ts';
import { noteFailure, noteImage } from '../generation/generationstore.ts';
import { makeByChain } from '../generation/making.ts';
import { noteImages, reserveImages } from '../generation/reserving.ts';
import { readImages } from '../generation/sources.ts';
import { RunFailure } from '../problems.ts';
import { findRefusal } from '../prompts/screening.ts';
import {
  type Generated,
  type Image,
  OrderRefused,
  ProviderFailed,
  type Ratio,
  ratio,
} from '../providers/generators.ts';
import { answerOf } from '../records/answers.ts';
import { holdRun, type Run } from '../runs/runstore.ts';
import { assetIdOf, type Deposit, keepMade, Refused } from '../services/library.ts';
import type { StoredMessage } from '../threads/messagestore.ts';
import { describeVideo, orderVideo } from '../videos/videos.ts';
import { findVideo, type Video } from '../videos/videostore.ts';
import type { ToolContext } from './context.ts';

const prompt = z.string().min(1).max(4000);
/** With or without `asset:`. */
const assetName = z
  .string()
  .transform((name) => name.replace(/^asset:/, '').toLowerCase())
  .pipe(z.guid());
const named = {
  model: z.string().max(128).optional().describe('The id of a model. Default: the first.'),
  n: z.int().min(1).max(16).optional().describe('The number of images. Default: 1.'),
};
const references = (what: string) =>
  z.array(assetName).max(16).optional().describe(`The assetIds of images of this conversation ${what}.`);
/** The library derives the JSON schema of each once. */
const inputs = {
  generate: zodSchema(
    z.object({
      ...{ prompt, ratio: ratio.optional().describe('Default: 1:1.') },
      ...named,
      references: references('to start from or to combine'),
    }),
  ),
  edit: zodSchema(
    z.object({
      prompt,
      assetId: assetName.optional().describe('Default: the latest image.'),
      ratio: ratio.optional().describe('Default: the ratio of the image.'),
      ...named,
      references: references('for the change'),
    }),
  ),
};
const never = new AbortController().signal;

export function imageTools(deps: AgentContext, context: ToolContext) {
  const { plan, media } = context;
  const models = describeModels(deps.catalogue.images, plan, media.imageModel) + countOf(media);
  const run = async (order: ImageToolOrder, call: { toolCallId: string; signal: AbortSignal }) => {
    const output = await makeImages(deps, context, { ...order, ...call });
    context.madeImages.push(...madeImagesOf({ type: 'tool-generateImage', output } as never));
    return output;
  };
  const findKnown = async () => [...imagesIn(await context.findMessages()), ...context.madeImages];
  return {
    generateImage: tool({
      description: `Generates images from a description. ${models}`,
      inputSchema: inputs.generate,
      execute: async ({ references = [], ...order }, { toolCallId, abortSignal: signal = never }) => {
        // Images of other conversations stay hidden here.
        if (references.length > 0 && !isSubset(references, await findKnown())) return failedWith(noSource);
        return run({ ...order, sources: references }, { toolCallId, signal });
      },
    }),
    editImage: tool({
      description: `Changes an image of this conversation: the one named by assetId, or the latest. ${models}`,
      inputSchema: inputs.edit,
      execute: async ({ assetId, references = [], ...order }, { toolCallId, abortSignal: signal = never }) => {
        const known = await findKnown();
        const source = assetId ?? known.at(-1);
        if (source === undefined || !isSubset([source, ...references], known)) return failedWith(noSource);
        return run({ ...order, sources: [source, ...references] }, { toolCallId, signal });
      },
    }),
  };
}

/** The user's choice holds unless the message names another number. */
const countOf = ({ count }: ToolContext['media']) =>
  count === undefined ? '' : ` If the user names no number of images, set n to ${count}.`;

const isSubset = (some: readonly string[], all: readonly string[]) => some.every((one) => all.includes(one));

interface ImageToolOrder {
  readonly prompt: string;
  readonly ratio?: Ratio | undefined;
  readonly n?: number | undefined;
  readonly model?: string | undefined;
  /** Assets. Without any, the image is made from the prompt alone. */
  readonly sources: readonly string[];
}

interface Call {
  readonly toolCallId: string;
  readonly signal: AbortSignal;
}

/** All images of the order, or as many as could be made. Their price is reserved at once. */
async function makeImages(
  deps: AgentContext,
  context: ToolContext,
  { toolCallId, signal, ...order }: ImageToolOrder & Call,
): Promise<MediaOutput> {
  const { run, media } = context;
  const { n = media.count ?? 1, sources } = order;
  const usual = sources.length > 0 ? undefined : '1:1';
  const chosen = modelFor(deps.catalogue.images, order.model ?? media.imageModel, {
    ...{ n, references: sources },
    ...{ ratio: order.ratio, otherwise: [media.ratio, usual] },
  });
  if ('failure' in chosen) return failedWith(chosen.failure);
  const { model, ratio: shape } = chosen;
  const refusal = await findRefusal(deps, run.ownerId, order.prompt, signal);
  if (refusal !== undefined) return failedWith(refusal);
  const { taskId } = run;
  const generation = { taskId, prompt: order.prompt, model: model.id, ratio: shape, references: sources };
  const calls = Array.from({ length: n }, (_, index) => ({
    ...{ toolCallId, index, prompt: order.prompt, model, generation, signal },
  }));
  const failure = await reserve(deps, run, calls);
  if (failure !== undefined) return failedWith(failure);
  const given = readImages(deps, run.ownerId, sources, signal);
  given.catch(() => undefined);
  const wanted = { prompt: order.prompt, ratio: shape, references: sources };
  const made = await Promise.all(
    calls.map((call) =>
      deliver(deps, context, call, async (onOrder) => {
        const images = await given;
        onOrder();
        return makeByChain(deps, model, wanted, { sources: images }, signal, (fallback) =>
          noteImage(deps.db, { reference: referenceOf(run, call), scope: taskId }, fallback),
        );
      }),
    ),
  );
  return combine(made);
}

/** The first one has the place of an order of one. */
function combine(made: readonly MediaOutput[]): MediaOutput {
  const delivered = made.filter(({ assetId }) => assetId !== null);
  const failed = made.find(({ assetId }) => assetId === null);
  const first = delivered[0] ?? failed;
  if (first === undefined) throw new Error('an order has no image');
  if (made.length === 1) return first;
  const assetIds = delivered.flatMap(({ assetId }) => assetId ?? []);
  return { ...first, ...(assetIds.length > 0 && { assetIds }), ...(failed?.failure && { failure: failed.failure }) };
}

/** Calls `onOrder` right before the order goes to the provider. */
type Make = (onOrder: () => void) => Promise<Image & Generated & Pick<Deposit, 'generated'>>;

interface ImageCall extends Call {
  /** Of several images of one call. */
  readonly index?: number;
  /** `undefined`: the model made the image without one. */
  readonly prompt: string | undefined;
  /** Default: `image`. */
  readonly kind?: Deposit['kind'];
  /** Whose price it has. */
  readonly model: ImageModel;
  readonly generation?: Deposit['generation'];
}

/** One image, such as a file that the model itself has made. */
export async function makeImage(
  deps: AgentContext,
  context: Pick<ToolContext, 'run' | 'imageOrders'>,
  call: ImageCall,
  make: Make,
): Promise<MediaOutput> {
  const failure = await reserve(deps, context.run, [call]);
  return failure === undefined ? deliver(deps, context, call, make) : failedWith(failure);
}

const referenceOf = ({ taskId }: Run, { toolCallId, index }: ImageCall) => imageReference(taskId, toolCallId, index);

/** An image whose price is reserved. If the run is stopped, its end cancels the order. If the order fails, its credits go back at once. */
async function deliver(
  deps: AgentContext,
  { run, imageOrders }: Pick<ToolContext, 'run' | 'imageOrders'>,
  call: ImageCall,
  make: Make,
): Promise<MediaOutput> {
  const { prompt, kind = 'image', generation, signal } = call;
  const reference = referenceOf(run, call);
  const { ownerId, threadId } = run;
  const place = { reference, ownerId, threadId, kind, ...(prompt !== undefined && { prompt }), generation };
  try {
    const image = await make(() => imageOrders.add(reference));
    signal.throwIfAborted();
    // Edits name their own mark.
    const { assetId, mime } = await keepMade(deps, { generated: 'ai', ...place, ...image });
    return { ...completed, assetId, mime };
  } catch (error) {
    signal.throwIfAborted();
    // The response of the media service may have been lost.
    if (await giveUp(deps, reference)) return { ...completed, assetId: assetIdOf(reference), mime: null };
    if (error instanceof OrderRefused || error instanceof Refused) return failed('rejected', error.message, false);
    const reason = error instanceof ProviderFailed ? error.message : 'The image could not be generated or stored.';
    deps.log.warn({ err: error }, 'an image could not be generated');
    await noteFailure(deps.db, reference, answerOf(error));
    return failed('provider_failed', reason, true);
  } finally {
    if (!signal.aborted) imageOrders.delete(reference);
  }
}

const completed = { kind: 'image', status: 'completed', url: null } as const;

/** The price of all images of one call. Returns why they cannot be paid for, or `undefined`. */
async function reserve(deps: AgentContext, run: Run, calls: readonly ImageCall[]): Promise<Failure | undefined> {
  const [{ model }] = calls as [ImageCall];
  return transaction(deps.db, async (tx) => {
    // Credits that are reserved after the end of the run would never come back.
    if (!(await holdRun(tx, run))) throw new RunFailure('The run has ended.');
    const { plan } = await ensureProfile(tx, { id: run.ownerId });
    const order = { scope: run.taskId, references: calls.map((call) => referenceOf(run, call)) };
    if (!model.plans.includes(plan)) {
      await noteImages(tx, order, model);
      return insufficientPlan(model);
    }
    const missing = await reserveImages(tx, run.ownerId, order, model);
    const isTooMuch = missing === undefined && (await exceedsRun(deps, tx, run.taskId));
    if (missing === undefined && !isTooMuch) return undefined;
    for (const reference of order.references) await releaseCredits(tx, reference);
    return missing === undefined ? runLimit(deps.maxRunCredits) : unpaid(missing);
  });
}

/** Returns the credits of a failed order. `true`: it was delivered and charged. */
async function giveUp({ db }: AgentContext, reference: string): Promise<boolean> {
  return transaction(db, async (tx) => !(await releaseCredits(tx, reference)) && (await isSettled(tx, reference)));
}

const failed = (code: string, message: string, retryable: boolean) => failedWith({ code, message, retryable });

function failedWith(failure: Failure, kind: MediaOutput['kind'] = 'image'): MediaOutput {
  return { kind, assetId: null, status: 'failed', url: null, mime: null, failure };
}

const unpaid = (missing: { readonly required: number; readonly balance: number }): Failure => ({
  code: 'insufficient_credits',
  message: "You don't have enough credits for an image.",
  retryable: false,
  ...missing,
});

const insufficientPlan = ({ id }: ImageModel): Failure => ({
  code: 'insufficient_plan',
  message: `Your plan doesn't include the image model ${id}.`,
  retryable: false,
});

const noSource: Failure = {
  code: 'no_source',
  message: 'There is no such image in this conversation.',
  retryable: false,
};

/** Attached images and those that tools made, oldest first. */
export function imagesIn(messages: readonly StoredMessage[]): readonly string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => assetOf(part) ?? madeImagesOf(part)));
}

// The tool that makes videos.

const videoInput = zodSchema(
  z.object({
    prompt: z.string().min(1).max(4000),
    ratio: ratio.optional().describe('Default: 16:9.'),
    duration: z.int().min(1).max(600).optional().describe('Seconds. Default: the model decides.'),
    firstFrame: assetName
      .optional()
      .describe('The assetId of an image of this conversation, which the video starts with.'),
    model: z.string().max(128).optional().describe('The id of a model. Default: the first.'),
  }),
);

export function videoTools(deps: AgentContext, context: ToolContext) {
  const { run, writer, plan, media } = context;
  const show = async (output: VideoOutput) => {
    await writer.write({ type: 'data-video', id: output.videoId, data: output });
  };
  const { videos } = deps.catalogue;
  return {
    generateVideo: tool({
      description: `Generates a short video from a description, or from an image and a description. The generation can continue after the answer. ${describeModels(videos, plan, media.videoModel)}`,
      inputSchema: videoInput,
      execute: async (order, { toolCallId, abortSignal }): Promise<MediaOutput> => {
        const { model: name, ...wanted } = order;
        const { firstFrame } = order;
        // Images of other conversations stay hidden here.
        const known = firstFrame && [...imagesIn(await context.findMessages()), ...context.madeImages];
        if (firstFrame && !known?.includes(firstFrame)) return failedWith(noSource, 'video');
        const chosen = modelFor(videos, name ?? media.videoModel, { ...wanted, otherwise: [media.ratio, '16:9'] });
        if ('failure' in chosen) return failedWith(chosen.failure, 'video');
        const refusal = await findRefusal(deps, run.ownerId, order.prompt, abortSignal);
        if (refusal !== undefined) return failedWith(refusal, 'video');
        const ordering = { ...wanted, ratio: chosen.ratio ?? '16:9' };
        const { video, failure } = await orderVideo(deps, run, toolCallId, ordering, chosen.model);
        if (video === undefined) return failedWith(failure, 'video');
        const ordered = { ...describeVideo(video), ...(failure && { failure }) };
        await show(ordered);
        if (failure !== undefined) return ordered;
        const latest = describeVideo(await waitFor(deps, video, abortSignal));
        await show(latest);
        return latest;
      },
    }),
  };
}

/** The video as it is when it has ended, or after the time that a run waits. Rejects when the signal is aborted. */
async function waitFor(deps: AgentContext, ordered: Video, signal = never): Promise<Video> {
  const { ownerId: userId, videoId: id } = ordered;
  await waitForEnd(deps, { userId, id }, AbortSignal.any([signal, AbortSignal.timeout(deps.videoWaitMs)]));
  signal.throwIfAborted();
  return (await findVideo(deps.db, id)) ?? ordered;
}
