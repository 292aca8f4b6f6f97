import { tool } from 'ai';
import { z } from 'zod';
import { type LedgerTables, reserveCredits } from '#accounts/ledger/credits.ts';
import { type Db, transaction } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { MediaOutput } from '../api.ts';
import { assetOf, madePictureOf } from '../attachments.ts';
import { pictureCost } from '../billing/prices.ts';
import { pictureReference } from '../billing/references.ts';
import { RunFailure } from '../providers/failures.ts';
import { type ImageGenerator, OrderRefused, type Picture, ProviderFailed, ratio } from '../providers/generators.ts';
import { fetchPicture, keep, type LibraryDeps, Refused } from '../services/library.ts';
import type { StoredMessage } from '../store/messagestore.ts';
import { holdRun, type RunTables } from '../store/runstore.ts';
import type { ToolContext } from './context.ts';

export interface ImageToolDeps extends LibraryDeps {
  readonly db: Db<LedgerTables & RunTables>;
  readonly imageGenerator: ImageGenerator;
  readonly log: Log;
}

const prompt = z.string().min(1).max(4000);
const never = new AbortController().signal;

export function imageTools(deps: ImageToolDeps, context: ToolContext) {
  const made = new Set<string>();
  const run = async (call: PictureCall, make: () => Promise<Picture>) => {
    const output = await makePicture(deps, context, call, make);
    if (output.assetId !== null) {
      made.add(output.assetId);
      context.onPicture(output.assetId);
    }
    return output;
  };
  return {
    generateImage: tool({
      description: 'Makes an image from a description.',
      inputSchema: z.object({ prompt, ratio: ratio.default('1:1') }),
      execute: (order, { toolCallId, abortSignal: signal = never }) =>
        run({ toolCallId, prompt: order.prompt, signal }, () => deps.imageGenerator.generate({ ...order, signal })),
    }),
    editImage: tool({
      description: 'Changes an image of this conversation: the one named by assetId, or the latest.',
      inputSchema: z.object({ prompt, assetId: z.guid().toLowerCase().optional() }),
      execute: async (order, { toolCallId, abortSignal: signal = never }) => {
        const known = [...picturesIn(await context.findMessages()), ...made];
        const assetId = order.assetId ?? known.at(-1);
        // Pictures of other conversations stay hidden here.
        if (assetId === undefined || !known.includes(assetId)) return noSource;
        return run({ toolCallId, prompt: order.prompt, signal }, async () => {
          const source = await fetchPicture(deps, context.run.ownerId, assetId, signal);
          if (source === undefined) throw new OrderRefused('The image to be edited is gone.');
          return deps.imageGenerator.edit({ prompt: order.prompt, source, signal });
        });
      },
    }),
  };
}

interface PictureCall {
  readonly toolCallId: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/** Reserved credits without a picture are returned when the run ends, because only then the message is complete. */
async function makePicture(
  deps: ImageToolDeps,
  { run }: ToolContext,
  { toolCallId, prompt, signal }: PictureCall,
  make: () => Promise<Picture>,
): Promise<MediaOutput> {
  const { taskId, ownerId, threadId } = run;
  const reference = pictureReference(taskId, toolCallId);
  const reservation = { reference, scope: taskId, userId: ownerId, amount: pictureCost };
  const { reserved, balance } = await transaction(deps.db, async (tx) => {
    // Credits that are reserved after the end of the run would never come back.
    if (!(await holdRun(tx, run))) throw new RunFailure('The run is over.');
    return reserveCredits(tx, reservation);
  });
  if (!reserved) return unpaid(balance);
  try {
    const picture = await make();
    const deposit = { ...picture, reference, ownerId, threadId, kind: 'image', prompt } as const;
    const { assetId, mime } = await keep(deps, deposit, signal);
    return { kind: 'image', assetId, status: 'completed', url: null, mime };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OrderRefused || error instanceof Refused) return failed('rejected', error.message, false);
    const reason = error instanceof ProviderFailed ? error.message : 'The image could not be made or stored.';
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
    required: pictureCost,
    balance,
  };
  return { ...failed('insufficient_credits', failure.message, false), failure };
}

const noSource = failed('no_source', 'There is no such image in this conversation.', false);

/** Attached pictures and those that tools made, oldest first. */
function picturesIn(messages: readonly StoredMessage[]): readonly string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => assetOf(part) ?? madePictureOf(part) ?? []));
}
