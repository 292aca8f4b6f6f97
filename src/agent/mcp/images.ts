/** `generate_image` and `edit_image`: as in a run, images are stored, screened and paid for. */

import type { Failure } from '../api.ts';
import { type ImageModel, modelFor } from '../generation/catalogue.ts';
import { noteImage } from '../generation/generationstore.ts';
import { makeByChain } from '../generation/making.ts';
import { readImages } from '../generation/sources.ts';
import { OrderRefused, ProviderFailed, type Ratio } from '../providers/generators.ts';
import { fetchScaledImage, findUnreadable, type LibraryDeps, Refused, sign } from '../services/library.ts';
import { deliverImage } from '../tools/imageorders.ts';
import type { McpContext } from './calls.ts';
import { threadOf } from './calls.ts';
import { linkTo, succeed, ToolFailed } from './results.ts';

const never = new AbortController().signal;

interface Order {
  readonly prompt: string;
  readonly ratio?: Ratio | undefined;
  readonly model?: string | undefined;
  readonly n?: number | undefined;
  /** Assets. Without any, the image is made from the prompt alone. */
  readonly sources: readonly string[];
  /** A PNG in base64. */
  readonly mask?: string | undefined;
}

export async function makeImages(deps: McpContext, userId: string, { sources, mask: encoded, ...order }: Order) {
  const { prompt, n = 1 } = order;
  const mask = encoded === undefined ? undefined : { bytes: Buffer.from(encoded, 'base64'), mime: 'image/png' };
  const otherwise = [sources.length > 0 ? undefined : '1:1'];
  const wanted = { n, ratio: order.ratio, references: sources, mask };
  const chosen = modelFor(deps.catalogue.images, order.model, { ...wanted, otherwise });
  if ('failure' in chosen) throw toolFailed(chosen.failure);
  const { model, ratio } = chosen;
  if (sources.length > 0) await assertOwn(deps, userId, sources);
  await deps.prompts.assertAllowed(userId, [prompt]);
  const threadId = threadOf(userId);
  const made = await deps.calls.payForImages(userId, { model, n }, async ({ callId, references, scope }, signal) => {
    const given = readImages(deps, userId, sources, signal);
    given.catch(() => undefined);
    const generation = { taskId: callId, prompt, model: model.id, ratio, references: sources };
    const results = await Promise.allSettled(
      references.map((reference) => {
        const place = { reference, ownerId: userId, threadId, prompt, generation };
        const make = async () =>
          makeByChain(
            deps,
            model,
            { prompt, ratio, references: sources, mask },
            { sources: await given, mask },
            signal,
            (fallback) => noteImage(deps.db, { reference, scope }, fallback),
          );
        return deliverImage(deps, place, make, signal);
      }),
    );
    const delivered = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (delivered.length === 0) throw explained(failed?.reason);
    if (failed !== undefined) deps.log.warn({ err: failed.reason }, 'an image that was ordered over MCP failed');
    return delivered;
  });
  return describe(deps, userId, model, made);
}

const toolFailed = ({ code, message }: Failure) => new ToolFailed(code, message);

/** Throws ToolFailed for assets that do not exist or belong to others. */
export async function assertOwn(deps: LibraryDeps, userId: string, assetIds: readonly string[]): Promise<void> {
  const { absent, foreign } = await findUnreadable(deps, userId, [...new Set(assetIds)]);
  const [first] = [...absent, ...foreign];
  if (first === undefined) return;
  const message = `You have no image with the assetId ${first}. Call list_assets to list your images.`;
  throw new ToolFailed('no_source', message);
}

function explained(error: unknown): unknown {
  if (error instanceof OrderRefused || error instanceof Refused) return new ToolFailed('rejected', error.message);
  if (error instanceof ProviderFailed) return new ToolFailed('provider_failed', error.message);
  return error;
}

interface MadeImage {
  readonly assetId: string;
  readonly mime: string;
}

/** The images are made and paid for: what cannot be shown is left out. */
async function describe(deps: McpContext, userId: string, model: ImageModel, made: readonly MadeImage[]) {
  const shown = await Promise.all(made.map((image) => show(deps, userId, image)));
  const images = shown.map(({ data }) => data);
  const [first] = images;
  const credits = model.credits * images.length;
  const data = { status: 'completed', ...first, credits, ...(images.length > 1 && { images }) };
  const ids = images.map(({ assetId }) => assetId).join(', ');
  const text =
    images.length > 1
      ? `The images are in the library. assetIds: ${ids}`
      : `The image is in the library. assetId: ${ids}`;
  return succeed(
    text,
    data,
    shown.flatMap(({ content }) => content),
  );
}

async function show(deps: McpContext, userId: string, { assetId, mime }: MadeImage) {
  const [url, preview] = await Promise.all([
    sign(deps, userId, 'image', [assetId]).then((signed) => signed.get(assetId)?.url),
    fetchScaledImage(deps, userId, assetId, never),
  ]).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'could not return an image that was generated over MCP');
    return [undefined, undefined] as const;
  });
  const shown = preview && {
    type: 'image' as const,
    data: Buffer.from(preview.bytes).toString('base64'),
    mimeType: preview.mime,
  };
  const content = [...(shown ? [shown] : []), ...(url ? [linkTo(url, assetId, mime)] : [])];
  return { content, data: { assetId, mime, url: url ?? null } };
}
