/** The ledger references of what a run delivers. */
import type { UIMessage } from 'ai';

export const runReference = (taskId: string): string => `run:${taskId}`;
export const imageReference = (taskId: string, toolCallId: string): string => `image:${taskId}:${toolCallId}`;

/** The images in the message. Credits that were reserved for anything else are released. */
export function billableReferences(taskId: string, parts: UIMessage['parts']): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') return [];
    const output: unknown = part.state === 'output-available' ? part.output : undefined;
    const isMade = typeof output === 'object' && output !== null && Reflect.get(output, 'status') === 'completed';
    return isMade ? [imageReference(taskId, part.toolCallId)] : [];
  });
}
