/** `generate_image` and `edit_image`: as in a run, an image is stored, screened and paid for. */
import type { Catalogue } from '../generation/catalogue.ts';
import { type Generated, type Image, OrderRefused, ProviderFailed, type Ratio } from '../providers/generators.ts';
import { type Deposit, fetchImage, fetchScaledImage, type LibraryDeps, Refused, sign } from '../services/library.ts';
import { deliverImage } from '../tools/imageorders.ts';
import { type CallDeps, type McpCalls, threadOf } from './calls.ts';
import { linkTo, succeed, ToolFailed } from './results.ts';

export interface ImageDeps extends LibraryDeps, Pick<CallDeps, 'log'> {
  readonly catalogue: Catalogue;
  readonly calls: McpCalls;
}

const never = new AbortController().signal;

export function generateImage(deps: ImageDeps, userId: string, order: { prompt: string; ratio: Ratio }) {
  return makeImage(deps, userId, order.prompt, (signal) =>
    deps.catalogue.images[0].generator.generate({ ...order, signal }),
  );
}

export interface EditOrder {
  readonly prompt: string;
  readonly assetId: string;
  /** A PNG in base64. */
  readonly mask?: string | undefined;
  readonly ratio?: Ratio | undefined;
}

export function editImage(deps: ImageDeps, userId: string, order: EditOrder) {
  const { prompt, assetId, ratio } = order;
  const mask = order.mask === undefined ? undefined : { bytes: Buffer.from(order.mask, 'base64'), mime: 'image/png' };
  return makeImage(deps, userId, prompt, async (signal) => {
    const source = await fetchImage(deps, userId, assetId, signal);
    if (source === undefined)
      throw new ToolFailed(
        'no_source',
        `You have no image with the assetId ${assetId}. Call list_assets to list your images.`,
      );
    const edited = await deps.catalogue.images[0].generator.edit({ prompt, sources: [source], mask, ratio, signal });
    return { ...edited, generated: source.generated };
  });
}

async function makeImage(
  deps: ImageDeps,
  userId: string,
  prompt: string,
  make: (signal: AbortSignal) => Promise<Image & Generated & Pick<Deposit, 'generated'>>,
) {
  const threadId = threadOf(userId);
  const made = await deps.calls.payForImage(userId, async ({ reference }, signal) => {
    const order = { reference, ownerId: userId, threadId, prompt };
    return deliverImage(deps, order, () => make(signal), signal).catch((error: unknown) => {
      throw explained(error);
    });
  });
  return describe(deps, userId, made);
}

function explained(error: unknown): unknown {
  if (error instanceof OrderRefused || error instanceof Refused) return new ToolFailed('rejected', error.message);
  if (error instanceof ProviderFailed) return new ToolFailed('provider_failed', error.message);
  return error;
}

/** The image is made and paid for: what cannot be shown is left out. */
async function describe(deps: ImageDeps, userId: string, { assetId, mime }: { assetId: string; mime: string }) {
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
  const more = [...(shown ? [shown] : []), ...(url ? [linkTo(url, assetId, mime)] : [])];
  const data = { status: 'completed', assetId, mime, url: url ?? null, credits: deps.catalogue.images[0].credits };
  return succeed(`The image is in the library. assetId: ${assetId}`, data, more);
}
