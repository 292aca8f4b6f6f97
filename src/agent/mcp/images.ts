/** `generate_image` and `edit_image`: orders of images, which the client waits for. */

import type { Failure } from '../api.ts';
import { modelFor } from '../generation/catalogue.ts';
import { readGeneration, stopImages, waitForEnd } from '../generation/generations.ts';
import { placeImages } from '../generation/orders.ts';
import { maskUrlOf } from '../generation/sources.ts';
import type { Ratio } from '../providers/generators.ts';
import { fetchScaledImage, findUnreadable, type LibraryDeps } from '../services/library.ts';
import { type McpContext, ofMcp } from './calls.ts';
import { linkTo, succeed, ToolFailed } from './results.ts';

const never = new AbortController().signal;
/** A provider is tried up to three times, so this ends calls that would take unreasonably long. */
const longestMs = 240_000;
const expired = { status: 'failed', code: 'call_expired', message: 'The call timed out.' } as const;

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

export async function makeImages(deps: McpContext, userId: string, { sources, mask, n = 1, ...order }: Order) {
  const { prompt } = order;
  const otherwise = [sources.length > 0 ? undefined : '1:1'];
  const wanted = { n, ratio: order.ratio, references: sources, mask };
  const chosen = modelFor(deps.catalogue.images, order.model, { ...wanted, otherwise });
  if ('failure' in chosen) throw toolFailed(chosen.failure);
  const { model, ratio } = chosen;
  if (sources.length > 0) await assertOwn(deps, userId, sources);
  await deps.prompts.assertAllowed(userId, [prompt]);
  const input = { prompt, ratio, references: sources, mask: mask && maskUrlOf(mask) };
  const { items, credits } = await deps.calls.track(async (closing) => {
    const id = await placeImages(deps, userId, { ...ofMcp(userId), model, n, input });
    const signal = AbortSignal.any([closing, AbortSignal.timeout(longestMs)]);
    const ended = await waitForEnd(deps, { userId, id }, signal);
    if (ended !== undefined) return ended;
    await stopImages(deps, id, expired);
    return readGeneration(deps, userId, id);
  });
  const made = items.flatMap(({ assetId, mime, url }) => (assetId === null ? [] : [{ assetId, mime, url }]));
  if (made.length === 0) throw toolFailed(items.find(({ failure }) => failure !== null)?.failure ?? expired);
  return describe(deps, userId, made, credits);
}

export const toolFailed = ({ code, message }: Pick<Failure, 'code' | 'message'>) => new ToolFailed(code, message);

/** Throws ToolFailed for assets that do not exist or belong to others. */
export async function assertOwn(deps: LibraryDeps, userId: string, assetIds: readonly string[]): Promise<void> {
  const { absent, foreign } = await findUnreadable(deps, userId, [...new Set(assetIds)]);
  const [first] = [...absent, ...foreign];
  if (first === undefined) return;
  const message = `You have no image with the assetId ${first}. Call list_assets to list your images.`;
  throw new ToolFailed('no_source', message);
}

interface MadeImage {
  readonly assetId: string;
  readonly mime: string | null;
  readonly url: string | null;
}

async function describe(deps: McpContext, userId: string, images: readonly MadeImage[], credits: number) {
  const content = await Promise.all(images.map((image) => show(deps, userId, image)));
  const data = { status: 'completed', ...images[0], credits, ...(images.length > 1 && { images }) };
  const ids = images.map(({ assetId }) => assetId).join(', ');
  const text =
    images.length > 1
      ? `The images are in the library. assetIds: ${ids}`
      : `The image is in the library. assetId: ${ids}`;
  return succeed(text, data, content.flat());
}

/** The image is made and paid for: what cannot be shown is left out. */
async function show(deps: McpContext, userId: string, { assetId, mime, url }: MadeImage) {
  const preview = await fetchScaledImage(deps, userId, assetId, never).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'could not return an image that was generated over MCP');
    return undefined;
  });
  const shown = preview && {
    type: 'image' as const,
    data: Buffer.from(preview.bytes).toString('base64'),
    mimeType: preview.mime,
  };
  return [...(shown ? [shown] : []), ...(url && mime ? [linkTo(url, assetId, mime)] : [])];
}
