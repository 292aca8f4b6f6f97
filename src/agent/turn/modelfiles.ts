/**
 * Files that the model itself generates. Each becomes an asset of the thread, is charged like an image of a tool, and goes into the
 * stream with a signed URL. A file that cannot be stored is a `data-notice` with the reason.
 */

import type { UIMessageChunk } from 'ai';
import { readDataUrl } from '../attachments.ts';
import { maxModelFiles, modelFileId } from '../billing/references.ts';
import type { AgentContext } from '../context.ts';
import { sign } from '../services/library.ts';
import type { ToolContext } from '../tools/context.ts';
import { makeImage } from '../tools/images.ts';

type FileChunk = Extract<UIMessageChunk, { type: 'file' }>;
export type KeepFile = (chunk: FileChunk) => Promise<UIMessageChunk>;

const maxBytes = 20 * 1024 * 1024;

/** For one run. `earlier`: how many files it has already. */
export function createFileKeeper(deps: AgentContext, context: ToolContext, signal: AbortSignal, earlier = 0): KeepFile {
  let count = earlier;
  return async ({ url, mediaType, providerMetadata }) => {
    const file = readDataUrl(url);
    if (file === undefined || !/^[\w.+-]+\/[\w.+-]+$/.test(file.mime))
      return notice('The file of the model is unreadable.');
    if (file.bytes.length > maxBytes) return notice('The file of the model is larger than 20 MiB.');
    if (count === maxModelFiles)
      return notice(`The model made more than ${maxModelFiles} files. This one was not stored.`);
    const { images } = deps.catalogue;
    const { providerModel } = context;
    // The price of the same model in the catalogue of images.
    const model = images.find((one) => one.model !== undefined && one.model === providerModel) ?? images[0];
    const call = { toolCallId: modelFileId(count), prompt: undefined, kind: kindOf(file.mime), model, signal };
    count += 1;
    const { assetId, mime, failure } = await makeImage(deps, context, call, async () => file);
    if (assetId === null) return notice(failure?.message ?? 'The file of the model could not be stored.');
    if (call.kind === 'image') context.madeImages.push(assetId);
    const { ownerId } = context.run;
    const signed = await sign(deps, ownerId, call.kind === 'video' ? 'video' : 'image', [assetId]).catch(
      () => undefined,
    );
    // Without the media service, the URL is known when the message is read.
    const { url: made = `asset:${assetId}`, thumbUrl } = signed?.get(assetId) ?? {};
    return {
      type: 'file',
      mediaType: mime ?? mediaType,
      url: made,
      providerMetadata: { ...providerMetadata, atelier: { assetId, ...(thumbUrl && { thumbUrl }) } },
    };
  };
}

const notice = (message: string): UIMessageChunk => ({ type: 'data-notice', data: { code: 'file_not_kept', message } });

const kindOf = (mime: string): 'image' | 'video' | 'file' =>
  mime.startsWith('image/') ? 'image' : mime.startsWith('video/') ? 'video' : 'file';
