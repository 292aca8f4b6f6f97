/**
 * The files of a new message (docs/specification/agent.md#attachments): every one that is an asset, by whatever name the
 * client gives it, becomes `asset:<assetId>`, and so do images in `data:` URLs.
 */
import { createHash } from 'node:crypto';
import { invalid, problems } from '#platform/problem.ts';
import type { TaskRequest } from '../api.ts';
import { readDataUrl, unreadable } from '../attachments.ts';
import { findUnreadable, keep, type LibraryDeps, Refused } from '../services/library.ts';
import type { ServingContext } from '../servingcontext.ts';

type Message = NonNullable<TaskRequest['message']>;
type Part = Message['parts'][number];
type FilePart = Extract<Part, { type: 'file' }>;

const never = new AbortController().signal;

/**
 * Throws 400 for assets that do not exist and for blocked images, 403 for assets of others, and what `checkStart` throws
 * for the message before an image of it is stored: a request that is refused leaves no asset.
 */
export async function resolveAttachments(
  deps: ServingContext,
  userId: string,
  { message, threadId }: TaskRequest,
  checkStart: (message: Message) => Promise<void>,
): Promise<TaskRequest['message']> {
  if (message === null || message === undefined) return message;
  const named = message.parts.map((part) => (part.type === 'file' ? nameAsset(deps, part) : part));
  const assetIds = named.flatMap((part) => (part.type === 'file' && isAsset(part) ? [part.url.slice(6)] : []));
  if (assetIds.length > 0) await checkReadable(deps, userId, assetIds);
  if (!named.some(isDataImage)) return { ...message, parts: named };
  await checkStart({
    ...message,
    parts: named.map((part) => (isDataImage(part) ? { ...part, url: anyAsset } : part)),
  });
  const parts: Part[] = [];
  for (const [index, part] of named.entries()) {
    parts.push(isDataImage(part) ? await storeImage(deps, userId, threadId, part, index) : part);
  }
  return { ...message, parts };
}

/** As `UIMessage` has it: browsers add parameters to the types of recordings, and other clients send null for no name. */
function nameAsset({ assetOfUrl }: ServingContext, { providerMetadata, filename, ...sent }: FilePart): FilePart {
  const mediaType = sent.mediaType.split(';', 1)[0]?.trim() ?? '';
  const part = { ...sent, mediaType, ...(typeof filename === 'string' && { filename }) };
  const named = providerMetadata?.atelier?.assetId ?? assetOfUrl(part.url);
  if (named !== undefined) return { ...part, url: `asset:${named.toLowerCase()}` };
  return isAsset(part) ? { ...part, url: part.url.toLowerCase() } : part;
}

/** Takes the place of an image that is not stored yet. */
const anyAsset = 'asset:00000000-0000-4000-8000-000000000000';

const isAsset = ({ url }: FilePart) => /^asset:/i.test(url);

const isDataImage = (part: Part): part is FilePart => part.type === 'file' && /^data:image\//i.test(part.url);

async function checkReadable(deps: LibraryDeps, userId: string, assetIds: readonly string[]): Promise<void> {
  const { absent, foreign } = await findUnreadable(deps, userId, assetIds);
  if (absent[0] !== undefined) throw invalid('body.message.parts', `asset:${absent[0]} does not exist`);
  if (foreign[0] !== undefined)
    throw problems.forbidden({
      message: `asset:${foreign[0]} belongs to another user. Attach only your own or public assets.`,
    });
}

/** The same image of the same user in the same thread is one asset, so that a repeated request stores nothing more. */
async function storeImage(
  deps: LibraryDeps,
  ownerId: string,
  threadId: string,
  part: FilePart,
  index: number,
): Promise<FilePart> {
  const { mime, bytes } = readDataUrl(part.url) ?? { mime: '', bytes: Buffer.alloc(0) };
  const digest = createHash('sha256').update(bytes).digest('hex');
  const deposit = { reference: `attached:${ownerId}:${threadId}:${mime}:${digest}`, ownerId, threadId };
  try {
    if (bytes.length === 0) throw new Refused('The image is empty.', 422);
    const { assetId } = await keep(deps, { ...deposit, kind: 'image', mime, bytes }, never);
    return { ...part, url: `asset:${assetId}` };
  } catch (error) {
    if (!(error instanceof Refused)) throw problems.engine_unavailable({ cause: error });
    if (error.status === 451 || error.status === 413) throw invalid(`body.message.parts.${index}`, error.message);
    // No caller can read it. The model gets a note.
    return { ...part, providerMetadata: { [unreadable]: { reason: 'undecodable' } } };
  }
}
