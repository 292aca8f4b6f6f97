/**
 * Orders without a run, by `POST /images` and `POST /videos` (docs/specification/agent.md#generations) or over MCP: an order is checked
 * against its model, the whole price is reserved, and one transaction writes the rows and the job.
 */
import { randomUUID } from 'node:crypto';
import { ensureProfile } from '#accounts/store.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { digestOf } from '#platform/http/idempotency.ts';
import type { Job, JobInsertion } from '#platform/jobs/jobs.ts';
import { invalid } from '#platform/problem.ts';
import type { MediaKind } from '../api.ts';
import { starts } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import { agentProblems } from '../problems.ts';
import type { Ratio } from '../providers/generators.ts';
import { startOnce, takeKey } from '../runs/runs.ts';
import type { KeyedStart } from '../runs/runstore.ts';
import type { AgentTables, ImageInput, OrderOrigin, VideoInput } from '../tables.ts';
import { placeOrder } from '../videos/videos.ts';
import type { ImagesRequest, VideosRequest } from './api.ts';
import * as catalogue from './catalogue.ts';
import { imageReferenceOf, imageScopeOf, imagesQueue } from './generations.ts';
import { countInFlightOf, insertGeneration } from './generationstore.ts';
import { makeImages } from './making.ts';
import { reserveImages } from './reserving.ts';
import { assertInputMedias, assertReadable, takeInputMedias } from './sources.ts';

/** Returns the id of the generation. Throws 400, 402, 403, 409 `idempotency_conflict`, 429 and 503. */
export async function orderImages(
  deps: AgentContext,
  userId: string,
  request: ImagesRequest,
  key: string | undefined,
): Promise<string> {
  const { prompt, n = 1, seed, quality, mask, inputMedias = [] } = request;
  const model = catalogue.pickModel(deps.catalogue.images, request.model);
  assertInputMedias(deps, inputMedias);
  const wanted = [...(request.references ?? []), ...inputMedias];
  const ratio = ratioOf(model, { ...request, references: wanted }, wanted.length > 0 ? undefined : '1:1');
  await assertReadable(deps, userId, request.references ?? [], 'body.references');
  await assertReadable(deps, userId, mask === undefined ? [] : [mask], 'body.mask');
  return orderOnce(deps, userId, 'image', request, key, async (keyed) => {
    const references = [...(request.references ?? []), ...(await takeInputMedias(deps, userId, inputMedias))];
    const input = { prompt, ratio, seed, quality, references, mask };
    return placeImages(deps, userId, { ...ofApi(request), model, keyed, n, input });
  });
}

/** As `orderImages`. */
export async function orderVideo(
  deps: AgentContext,
  userId: string,
  request: VideosRequest,
  key: string | undefined,
): Promise<string> {
  const { prompt, duration, seed, inputMedias = [], references: named = [] } = request;
  const model = catalogue.pickModel(deps.catalogue.videos, request.model);
  assertInputMedias(deps, inputMedias);
  // The image of a home card is the first frame for a model without references.
  const isFrame = inputMedias.length === 1 && model.maxReferences === 0 && request.firstFrame === undefined;
  const wanted = {
    references: isFrame ? named : [...named, ...inputMedias],
    firstFrame: isFrame || request.firstFrame,
  };
  const ratio = ratioOf(model, { ...request, ...wanted }, '16:9') ?? '16:9';
  await assertReadable(deps, userId, request.firstFrame === undefined ? [] : [request.firstFrame], 'body.firstFrame');
  await assertReadable(deps, userId, named, 'body.references');
  return orderOnce(deps, userId, 'video', request, key, async (keyed) => {
    const taken = await takeInputMedias(deps, userId, inputMedias);
    const firstFrame = isFrame ? taken[0] : request.firstFrame;
    const references = isFrame ? named : [...named, ...taken];
    const input = { prompt, ratio, duration, seed, firstFrame, references };
    return placeVideo(deps, userId, { ...ofApi(request), model, keyed, input });
  });
}

const ofApi = ({ scopeKind, scopeId }: ImagesRequest | VideosRequest): Origin => ({
  origin: 'api',
  scopeKind,
  scopeId,
});

/** Throws 400 for an order that the model cannot honor. */
function ratioOf(
  model: catalogue.ImageModel | catalogue.VideoModel,
  wanted: catalogue.Wanted,
  usual: Ratio | undefined,
): Ratio | undefined {
  const unsupported = catalogue.findUnsupported(model, wanted);
  if (unsupported !== undefined) throw invalid(`body.${unsupported.field}`, unsupported.message);
  return (wanted.ratio as Ratio | undefined) ?? catalogue.chooseRatio(model, [usual]);
}

/** A repetition gets the first order, without another look at its prompt. */
async function orderOnce(
  deps: AgentContext,
  userId: string,
  kind: MediaKind,
  request: ImagesRequest | VideosRequest,
  key: string | undefined,
  order: (keyed: KeyedStart | undefined) => Promise<string>,
): Promise<string> {
  const keyed =
    key === undefined ? undefined : { userId, key, bodyDigest: digestOf({ kind, ...request, userId: null }) };
  const { taskId } = await startOnce(deps.db, keyed, async () => {
    await deps.prompts.assertAllowed(userId, [request.prompt]);
    return { taskId: await order(keyed), threadId: '', queued: false };
  });
  return taskId;
}

export interface Origin {
  readonly origin: OrderOrigin;
  /** Where the assets are stored. Default: `generation` and the id of the order. */
  readonly scopeKind?: string | undefined;
  readonly scopeId?: string | undefined;
}

/** The caller has checked that the model can honor it. */
interface Order<Model, Input> extends Origin {
  readonly model: Model;
  readonly input: Input;
  readonly keyed?: KeyedStart | undefined;
}

/** Returns the id of the generation. Throws 402, 403, 409 and 429. */
export function placeImages(
  deps: AgentContext,
  userId: string,
  { n, ...order }: Order<catalogue.ImageModel, ImageInput> & { readonly n: number },
): Promise<string> {
  const { origin, model, input } = order;
  return place(deps, userId, order, (id, commit) => {
    const scope = scopeOf(order, id);
    const generation = {
      ...{ id, ownerId: userId, origin, model: model.id, price: model.credits, input, count: n },
      ...{ scopeKind: scope.kind, scopeId: scope.id },
    };
    const insert = (insertion: JobInsertion) =>
      commit(async (tx) => {
        await insertGeneration(tx, generation, insertion);
        const references = Array.from({ length: n }, (_, index) => imageReferenceOf(id, index));
        const unpaid = await reserveImages(tx, userId, { scope: imageScopeOf(id), references }, model);
        if (unpaid === undefined) return;
        const message = "You don't have enough credits for this order.";
        throw agentProblems.insufficient_credits({ message, fields: unpaid });
      });
    const attempt = (job: Job<{ generationId: string }>) => makeImages(deps, job, generation);
    return deps.jobs.start(imagesQueue, { generationId: id }, insert, { key: id, lane: userId, attempt });
  });
}

/** As `placeImages`. */
export function placeVideo(
  deps: AgentContext,
  userId: string,
  order: Order<catalogue.VideoModel, VideoInput>,
): Promise<string> {
  const { origin, model, input } = order;
  return place(deps, userId, order, (id, commit) =>
    commit(async (tx) => {
      const scope = scopeOf(order, id);
      const threadId = origin === 'api' ? `generation-${id}` : scope.id;
      const { failure } = await placeOrder(deps, tx, {
        ...{ videoId: id, ownerId: userId, threadId, taskId: id, messageId: id, toolCallId: id },
        ...{ model: model.id, mediaModel: model.id, price: model.credits, origin, scope, input },
      });
      if (failure === undefined) return;
      const { message, required, balance } = failure;
      if (failure.code === 'insufficient_credits')
        throw agentProblems.insufficient_credits({ message, fields: { required, balance } });
      throw agentProblems.insufficient_plan({ message });
    }),
  );
}

const scopeOf = ({ scopeKind, scopeId }: Origin, id: string) => ({
  kind: scopeKind ?? 'generation',
  id: scopeId ?? id,
});

async function place(
  deps: AgentContext,
  userId: string,
  { model, keyed }: Pick<Order<catalogue.MediaModel, unknown>, 'model' | 'keyed'>,
  order: (id: string, commit: (write: (tx: Tx<AgentTables>) => Promise<void>) => Promise<true>) => Promise<boolean>,
): Promise<string> {
  const id = randomUUID();
  const commit = (write: (tx: Tx<AgentTables>) => Promise<void>) =>
    transaction(deps.db, async (tx) => {
      await takeKey(tx, keyed, { taskId: id, threadId: '' });
      const { plan } = await ensureProfile(tx, { id: userId }, deps.welcome);
      if (!model.plans.includes(plan))
        throw agentProblems.insufficient_plan({ message: `Your plan doesn't include the model ${model.id}.` });
      await write(tx);
      // The reservation has locked the user, so concurrent orders are counted one after the other.
      if ((await countInFlightOf(tx, userId)) > deps.maxRunsPerUser) throw agentProblems.too_many_runs();
      return true as const;
    });
  await starts.run(userId, () => order(id, commit));
  return id;
}
