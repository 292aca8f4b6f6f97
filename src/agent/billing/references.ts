/** The ledger's references and scopes of the agent's work. */
import type { UIMessage } from 'ai';
import { assetIdOf } from '../services/library.ts';

export const runReference = (taskId: string): string => `run:${taskId}`;
const imagesOf = (taskId: string): string => `image:${taskId}:`;
export const imageReference = (taskId: string, toolCallId: string): string => `${imagesOf(taskId)}${toolCallId}`;
/** Also names the asset of the video. */
export const videoScope = (videoId: string): string => `video:${videoId}`;
export const videoAssetId = (videoId: string): string => assetIdOf(videoScope(videoId));
/** Of one attempt. */
export const videoReference = ({ videoId, attempt }: { readonly videoId: string; readonly attempt: number }): string =>
  `${videoScope(videoId)}:${attempt}`;

/** Of one run. */
export const maxModelFiles = 16;
/** Takes the place of a tool call's id for a file that the model itself has generated. */
export const modelFileId = (index: number): string => `model file ${index}`;

/** Whether a reference in the scope of a run is that of an image. */
export const isImage = (taskId: string, reference: string): boolean => reference.startsWith(imagesOf(taskId));

/** The parts with every image that was delivered, also if the run ended before its tool returned. */
export function withDelivered(
  taskId: string,
  parts: UIMessage['parts'],
  delivered: readonly string[],
): UIMessage['parts'] {
  return parts.map((part) => {
    if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') return part;
    const reference = imageReference(taskId, part.toolCallId);
    if (part.state === 'output-available' || !delivered.includes(reference)) return part;
    const { type, toolCallId, input } = part;
    // The media type is known when messages are read.
    const output = { kind: 'image', assetId: assetIdOf(reference), status: 'completed', url: null, mime: null };
    return { type, toolCallId, input, state: 'output-available', output };
  });
}
