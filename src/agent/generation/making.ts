/**
 * The worker of image orders. Orders are sent once: the row is marked before, by its insertion if this process has room, so if the
 * process dies, the generation ends when another worker takes the job, and what was not delivered is free.
 */

import { releaseCredits } from '#accounts/ledger/credits.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import type { Job } from '#platform/jobs/jobs.ts';
import type { Failure } from '../api.ts';
import type { AgentContext } from '../context.ts';
import { type Generated, type Image, OrderRefused, ProviderFailed } from '../providers/generators.ts';
import { answerOf } from '../records/answers.ts';
import { type Deposit, keepMade, NotPaid, Refused, type SourceImage } from '../services/library.ts';
import type { AgentTables, ImageInput } from '../tables.ts';
import { type ImageModel, modelOfRow, withFallbacks } from './catalogue.ts';
import { cancelTopic, endImages, imageReferenceOf, imageScopeOf, imagesQueue } from './generations.ts';
import { endItem, lockGeneration, markOrdered, type NewGeneration, noteImage } from './generationstore.ts';
import { readImages, readMask } from './sources.ts';

const stopped = { status: 'failed', code: 'interrupted', message: 'The image was interrupted.' } as const;
/** Jobs that wait for providers. */
const generationsAtOnce = 50;
const imagesAtOnce = 4;

export function workOnImages(deps: AgentContext): () => void {
  deps.jobs.work(imagesQueue, (job: ImagesJob) => makeImages(deps, job), {
    concurrency: generationsAtOnce,
    // Such as a job whose workers were killed again and again.
    onDead: (tx: Tx<AgentTables>, { generationId }) => endInterrupted(deps, tx, generationId),
  });
  return deps.pubsub.subscribe(cancelTopic, {
    onMessage: (id) => deps.underWay.get(id)?.abort(new Error('the generation was canceled')),
  });
}

type ImagesJob = Job<{ readonly generationId: string }>;

/** `inserted`: a generation that was marked when it was inserted. */
export async function makeImages(deps: AgentContext, job: ImagesJob, inserted?: NewGeneration): Promise<void> {
  const { generationId: id } = job.payload;
  const canceled = new AbortController();
  deps.underWay.set(id, canceled);
  try {
    const row = inserted ?? (await markOrdered(deps.db, id));
    if (row !== undefined) await makeAll(deps, row, AbortSignal.any([job.signal, canceled.signal]));
    job.signal.throwIfAborted();
    await transaction(deps.db, async (tx) => {
      await endInterrupted(deps, tx, id);
      await job.complete(tx);
    });
  } finally {
    deps.underWay.delete(id);
  }
}

/** What is delivered by now stays. */
async function endInterrupted(deps: AgentContext, tx: Tx<AgentTables>, id: string): Promise<void> {
  const row = await lockGeneration(tx, id);
  if (row?.status === 'running') await endImages(deps, tx, row, stopped);
}

async function makeAll(deps: AgentContext, row: NewGeneration, signal: AbortSignal): Promise<void> {
  const { references, mask } = row.input;
  const readSources = async () => ({
    mask: mask === undefined ? undefined : await readMask(deps, row.ownerId, mask, signal),
    sources: await readImages(deps, row.ownerId, references, signal),
  });
  // Read once for all images of the order.
  const given = readSources();
  given.catch(() => undefined);
  let left = row.count;
  await mapConcurrently([...Array(row.count).keys()], imagesAtOnce, async (index) => {
    try {
      const reference = imageReferenceOf(row.id, index);
      // Each image of an order is another one.
      const wanted = { ...row.input, seed: seedOf(row.input, index) };
      const model = modelOfRow(deps.catalogue.images, row.model);
      const made = await makeByChain(deps, model, wanted, await given, signal, (fallback) =>
        noteImage(deps.db, { reference, scope: imageScopeOf(row.id) }, fallback),
      );
      const scope = { kind: row.scopeKind, id: row.scopeId };
      const { prompt, ratio, references } = row.input;
      const order = { id: row.id, ...(row.origin !== 'api' && { taskId: row.id }) };
      const generation = { ...order, prompt, model: row.model, ratio, seed: wanted.seed, references };
      const deposit = { reference, ownerId: row.ownerId, threadId: row.scopeId, scope, prompt, generation };
      const { assetId } = await keepMade(deps, { ...deposit, ...made, kind: 'image' });
      // The end of the generation, which is next, completes the last one.
      if (--left > 0) await endItem(deps.db, { id: row.id, index }, { status: 'completed', assetId });
    } catch (error) {
      if (signal.aborted || error instanceof NotPaid) return;
      await failItem(deps, row, index, error);
    }
  });
}

/** Providers take seeds below 2^31. */
export const seedOf = ({ seed }: ImageInput, index: number): number | undefined =>
  seed === undefined ? undefined : (seed + index) % 2 ** 31;

interface Sources {
  readonly sources: readonly SourceImage[];
  readonly mask?: Image | undefined;
}

/** Another model of the catalogue makes the image if the first one cannot be reached. `onFallback` gets that one before its order. */
export async function makeByChain(
  { catalogue, log }: Pick<AgentContext, 'catalogue' | 'log'>,
  model: ImageModel,
  wanted: Omit<ImageInput, 'mask'> & { readonly mask?: unknown },
  { sources, mask }: Sources,
  signal: AbortSignal,
  onFallback: (fallback: ImageModel) => Promise<void>,
): Promise<Image & Generated & Pick<Deposit, 'generated'>> {
  signal.throwIfAborted();
  const { prompt, ratio, seed, quality } = wanted;
  const generated = sources.every((source) => source.generated === 'ai') ? 'ai' : 'edited';
  const chain = withFallbacks(catalogue.images, model, wanted);
  for (const [place, next] of chain.entries()) {
    const { id, generator } = next;
    try {
      if (place > 0) await onFallback(next);
      const made =
        sources.length === 0
          ? await generator.generate({ prompt, ratio: ratio ?? '1:1', seed, quality, signal })
          : await generator.edit({ prompt, sources, mask, ratio, seed, quality, signal });
      return { ...made, generated };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OrderRefused || place === chain.length - 1) throw error;
      log.warn({ err: error, model: id }, 'an image is ordered from the fallback of its model');
    }
  }
  throw new Error('the catalogue has no image model');
}

async function failItem(deps: AgentContext, { id }: NewGeneration, index: number, error: unknown): Promise<void> {
  const isRefused = error instanceof OrderRefused || error instanceof Refused;
  if (!isRefused) deps.log.warn({ err: error }, 'an image could not be generated');
  const explained = isRefused || error instanceof ProviderFailed;
  const failure: Failure = {
    code: isRefused ? 'rejected' : 'provider_failed',
    message: explained ? error.message : 'The image could not be generated or stored.',
    retryable: !isRefused,
  };
  await transaction(deps.db, async (tx) => {
    // If the response of the media service was lost, the image is charged, and the end of the generation finds it.
    if (await releaseCredits(tx, imageReferenceOf(id, index)))
      await endItem(tx, { id, index }, { status: 'failed', failure, answer: answerOf(error) });
  });
}
