/** What a run's answer holds that is to be paid, beside the run itself: the pictures that were made for it. */
import type { UIMessage } from 'ai';

export const pictureReference = (taskId: string, toolCallId: string): string => `image:${taskId}:${toolCallId}`;

/** What is in the message was delivered; whatever else was reserved goes back. */
export function doneIn(taskId: string, parts: UIMessage['parts']): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') return [];
    const output: unknown = part.state === 'output-available' ? part.output : undefined;
    const isMade = typeof output === 'object' && output !== null && Reflect.get(output, 'status') === 'completed';
    return isMade ? [pictureReference(taskId, part.toolCallId)] : [];
  });
}
