import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import { type LedgerTables, reserveCredits } from '#accounts/ledger/credits.ts';
import { type Db, transaction } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { MediaOutput } from '../api.ts';
import { assetOf, madeImagesOf } from '../attachments.ts';
import { imageCost } from '../billing/prices.ts';
import { imageReference } from '../billing/references.ts';
import { RunFailure } from '../providers/expectedfailures.ts';
import {
  type Generated,
  type Image,
  type ImageGenerator,
  OrderRefused,
  ProviderFailed,
  ratio,
} from '../providers/generators.ts';
import { type Deposit, fetchImage, keep, type LibraryDeps, Refused } from '../services/library.ts';
import type { StoredMessage } from '../store/messagestore.ts';
import { holdRun, type RunTables } from '../store/runstore.ts';
import type { ToolContext } from './context.ts';

export interface ImageToolDeps extends LibraryDeps {
  readonly db: Db<LedgerTables & RunTables>;
  readonly imageGenerator: ImageGenerator;
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
  const run = async (call: ImageCall, make: () => Promise<Image & Generated>) => {
    const output = await makeImage(deps, context, call, make);
    if (output.assetId !== null) context.madeImages.push(output.assetId);
    return output;
  };
  return {
    generateImage: tool({
      description: 'Generates an image from a description.',
      inputSchema: inputs.generate,
      execute: (order, { toolCallId, abortSignal: signal = never }) =>
        run({ toolCallId, prompt: order.prompt, signal }, () => deps.imageGenerator.generate({ ...order, signal })),
    }),
    editImage: tool({
      description: 'Changes an image of this conversation: the one named by assetId, or the latest.',
      inputSchema: inputs.edit,
      execute: async (order, { toolCallId, abortSignal: signal = never }) => {
        const known = [...imagesIn(await context.findMessages()), ...context.madeImages];
        const assetId = order.assetId ?? known.at(-1);
        // Images of other conversations stay hidden here.
        if (assetId === undefined || !known.includes(assetId)) return noSource;
        return run({ toolCallId, prompt: order.prompt, signal }, async () => {
          const source = await fetchImage(deps, context.run.ownerId, assetId, signal);
          if (source === undefined) throw new OrderRefused('The image to edit no longer exists.');
          return deps.imageGenerator.edit({ prompt: order.prompt, source, ratio: order.ratio, signal });
        });
      },
    }),
  };
}

interface ImageCall {
  readonly toolCallId: string;
  /** `undefined`: the model made the image without one. */
  readonly prompt: string | undefined;
  /** Default: `image`. */
  readonly kind?: Deposit['kind'];
  readonly signal: AbortSignal;
}

/** Reserved credits without an image are returned when the run ends, because only then the message is complete. */
export async function makeImage(
  deps: ImageToolDeps,
  { run }: Pick<ToolContext, 'run'>,
  { toolCallId, prompt, kind = 'image', signal }: ImageCall,
  make: () => Promise<Image & Generated>,
): Promise<MediaOutput> {
  const { taskId, ownerId, threadId } = run;
  const reference = imageReference(taskId, toolCallId);
  const reservation = { reference, scope: taskId, userId: ownerId, amount: imageCost };
  const { reserved, balance } = await transaction(deps.db, async (tx) => {
    // Credits that are reserved after the end of the run would never come back.
    if (!(await holdRun(tx, run))) throw new RunFailure('The run has ended.');
    return reserveCredits(tx, reservation);
  });
  if (!reserved) return unpaid(balance);
  try {
    const image = await make();
    const deposit = { ...image, reference, ownerId, threadId, kind, ...(prompt !== undefined && { prompt }) };
    const { assetId, mime } = await keep(deps, deposit, signal);
    return { kind: 'image', assetId, status: 'completed', url: null, mime };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OrderRefused || error instanceof Refused) return failed('rejected', error.message, false);
    const reason = error instanceof ProviderFailed ? error.message : 'The image could not be generated or stored.';
    deps.log.warn({ err: error }, 'an image could not be generated');
    return failed('provider_failed', reason, true);
  }
}

function failed(code: string, message: string, retryable: boolean): MediaOutput {
  return {
    kind: 'image',
    assetId: null,
    status: 'failed',
    url: null,
    mime: null,
    failure: { code, message, retryable },
  };
}

function unpaid(balance: number): MediaOutput {
  const failure = {
    code: 'insufficient_credits',
    message: "You don't have enough credits for an image.",
    retryable: false,
    required: imageCost,
    balance,
  };
  return { ...failed('insufficient_credits', failure.message, false), failure };
}

const noSource = failed('no_source', 'There is no such image in this conversation.', false);

/** Attached images and those that tools made, oldest first. */
function imagesIn(messages: readonly StoredMessage[]): readonly string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => assetOf(part) ?? madeImagesOf(part)));
}
