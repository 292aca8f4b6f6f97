/** The ledger references of what a run delivers. */
import type { UIMessage } from 'ai';
import { assetOf } from '../attachments.ts';
import { assetIdOf } from '../services/library.ts';

export const runReference = (taskId: string): string => `run:${taskId}`;
export const imageReference = (taskId: string, toolCallId: string): string => `image:${taskId}:${toolCallId}`;

/** Of one run. */
export const maxModelFiles = 16;
/** Takes the place of a tool call's id for a file that the model itself has generated. */
export const modelFileId = (index: number): string => `model file ${index}`;

/** The images in the message, and files that the model has generated. Credits that were reserved for anything else are released. */
export function billableReferences(taskId: string, parts: UIMessage['parts']): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type === 'file') {
      const references = Array.from({ length: maxModelFiles }, (_, index) =>
        imageReference(taskId, modelFileId(index)),
      );
      return references.filter((reference) => assetIdOf(reference) === assetOf(part));
    }
    if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') return [];
    const output: unknown = part.state === 'output-available' ? part.output : undefined;
    const isMade = typeof output === 'object' && output !== null && Reflect.get(output, 'status') === 'completed';
    return isMade ? [imageReference(taskId, part.toolCallId)] : [];
  });
}
