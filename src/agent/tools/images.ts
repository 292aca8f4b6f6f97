import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import { isSettled, type LedgerTables, releaseCredits, reserveCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import { type Db, transaction } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Failure, MediaOutput } from '../api.ts';
import { assetOf, madeImagesOf } from '../attachments.ts';
import { exceedsRun, runLimit, type SpendingBounds } from '../billing/bounds.ts';
import { imageReference } from '../billing/references.ts';
import type { Catalogue } from '../generation/catalogue.ts';
import { RunFailure } from '../providers/expectedfailures.ts';
import { type Generated, type Image, OrderRefused, ProviderFailed, ratio } from '../providers/generators.ts';
import { assetIdOf, type Deposit, fetchImage, type LibraryDeps, Refused } from '../services/library.ts';
import type { StoredMessage } from '../store/messagestore.ts';
import { holdRun, type Run, type RunTables } from '../store/runstore.ts';
import type { VideoTables } from '../store/videostore.ts';
import type { ToolContext } from './context.ts';
import { deliverImage, type ImageOrder, reservationOf } from './imageorders.ts';

export interface ImageToolDeps extends LibraryDeps, Pick<SpendingBounds, 'maxRunCredits'> {
  readonly db: Db<LedgerTables & RunTables & VideoTables>;
  readonly catalogue: Catalogue;
  readonly log: Log;
}

const prompt = z.string().min(1).max(4000);
/** The library derives the JSON schema of each once. */
const inputs = {
  generate: zodSchema(z.object({ prompt, ratio: ratio.default('1:1') })),
  edit: zodSchema(
    z.object({
      prompt,
      assetId: z.guid().toLowerCase().optional(),
      ratio: ratio.optional().describe('Default: the ratio of the image.'),
    }),
  ),
};
const never = new AbortController().signal;

export function imageTools(deps: ImageToolDeps, context: ToolContext) {
  const run = async (call: ImageCall, make: Make) => {
    const output = await makeImage(deps, context, call, make);
    if (output.assetId !== null) context.madeImages.push(output.assetId);
    return output;
  };
  return {
    generateImage: tool({
      description: 'Generates an image from a description.',
      inputSchema: inputs.generate,
      execute: (order, { toolCallId, abortSignal: signal = never }) =>
        run({ toolCallId, prompt: order.prompt, signal }, (onOrder) => {
          onOrder();
          return deps.catalogue.images[0].generator.generate({ ...order, signal });
        }),
    }),
    editImage: tool({
      description: 'Changes an image of this conversation: the one named by assetId, or the latest.',
      inputSchema: inputs.edit,
      execute: async (order, { toolCallId, abortSignal: signal = never }) => {
        const known = [...imagesIn(await context.findMessages()), ...context.madeImages];
        const assetId = order.assetId ?? known.at(-1);
        // Images of other conversations stay hidden here.
        if (assetId === undefined || !known.includes(assetId)) return noSource;
        return run({ toolCallId, prompt: order.prompt, signal }, async (onOrder) => {
          const source = await fetchImage(deps, context.run.ownerId, assetId, signal);
          if (source === undefined) throw new OrderRefused('The image to edit no longer exists.');
          onOrder();
          const { generator } = deps.catalogue.images[0];
          const edited = await generator.edit({ prompt: order.prompt, sources: [source], ratio: order.ratio, signal });
          return { ...edited, generated: source.generated };
        });
      },
    }),
  };
}

/** Calls `onOrder` right before the order goes to the provider. */
type Make = (onOrder: () => void) => Promise<Image & Generated & Pick<Deposit, 'generated'>>;

interface ImageCall {
  readonly toolCallId: string;
  /** `undefined`: the model made the image without one. */
  readonly prompt: string | undefined;
  /** Default: `image`. */
  readonly kind?: Deposit['kind'];
  readonly signal: AbortSignal;
}

/** If the run is stopped, its end cancels the order. If the order fails, its credits go back at once. */
export async function makeImage(
  deps: ImageToolDeps,
  { run, imageOrders }: Pick<ToolContext, 'run' | 'imageOrders'>,
  { toolCallId, prompt, kind = 'image', signal }: ImageCall,
  make: Make,
): Promise<MediaOutput> {
  const { taskId, ownerId, threadId } = run;
  const reference = imageReference(taskId, toolCallId);
  const order = { reference, ownerId, threadId, kind, ...(prompt !== undefined && { prompt }) };
  const failure = await reserve(deps, run, order);
  if (failure !== undefined) return failedWith(failure);
  try {
    const made = await deliverImage(deps, order, () => make(() => imageOrders.add(reference)), signal);
    return { ...completed, ...made };
  } catch (error) {
    signal.throwIfAborted();
    // The response of the media service may have been lost.
    if (await giveUp(deps, reference)) return { ...completed, assetId: assetIdOf(reference), mime: null };
    if (error instanceof OrderRefused || error instanceof Refused) return failed('rejected', error.message, false);
    const reason = error instanceof ProviderFailed ? error.message : 'The image could not be generated or stored.';
    deps.log.warn({ err: error }, 'an image could not be generated');
    return failed('provider_failed', reason, true);
  } finally {
    if (!signal.aborted) imageOrders.delete(reference);
  }
}

const completed = { kind: 'image', status: 'completed', url: null } as const;

/** Returns why the image cannot be paid for, or `undefined`. */
async function reserve(deps: ImageToolDeps, run: Run, order: ImageOrder): Promise<Failure | undefined> {
  const [{ credits, plans }] = deps.catalogue.images;
  return transaction(deps.db, async (tx) => {
    // Credits that are reserved after the end of the run would never come back.
    if (!(await holdRun(tx, run))) throw new RunFailure('The run has ended.');
    const { plan } = await ensureProfile(tx, { id: run.ownerId });
    if (!plans.includes(plan)) return insufficientPlan;
    const { reserved, balance } = await reserveCredits(tx, reservationOf(order, run.taskId, credits));
    if (!reserved) return unpaid(credits, balance);
    if (!(await exceedsRun(deps, tx, run.taskId))) return undefined;
    await releaseCredits(tx, order.reference);
    return runLimit(deps.maxRunCredits);
  });
}

/** Returns the credits of a failed order. `true`: it was delivered and charged. */
async function giveUp({ db }: ImageToolDeps, reference: string): Promise<boolean> {
  return transaction(db, async (tx) => !(await releaseCredits(tx, reference)) && (await isSettled(tx, reference)));
}

const failed = (code: string, message: string, retryable: boolean) => failedWith({ code, message, retryable });

function failedWith(failure: Failure): MediaOutput {
  return { kind: 'image', assetId: null, status: 'failed', url: null, mime: null, failure };
}

const unpaid = (required: number, balance: number): Failure => ({
  code: 'insufficient_credits',
  message: "You don't have enough credits for an image.",
  retryable: false,
  required,
  balance,
});

const insufficientPlan: Failure = {
  code: 'insufficient_plan',
  message: "Your plan doesn't include images.",
  retryable: false,
};

const noSource = failed('no_source', 'There is no such image in this conversation.', false);

/** Attached images and those that tools made, oldest first. */
function imagesIn(messages: readonly StoredMessage[]): readonly string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => assetOf(part) ?? madeImagesOf(part)));
}
