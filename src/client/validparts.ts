/** The parts of a message whose run was continued by another process while it was read. */

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly state?: string;
  readonly errorText?: string;
}

/** How a call is closed that the model makes again. */
export const unanswered = 'The run ended before this tool returned.';

/**
 * Leaves out the parts before a `data-restarted` part, back to the beginning of their step, and the part itself. The model was asked
 * again for that step. Messages that are read from the service have neither.
 */
export function validParts<Kind extends Part>(parts: readonly Kind[]): readonly Kind[] {
  let valid: Kind[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'data-restarted') {
      valid.push(part);
      continue;
    }
    const step = valid.findLastIndex(({ type }) => type === 'step-start');
    const later = parts.slice(index + 1);
    const isKept = ({ toolCallId, state, errorText }: Part) =>
      toolCallId !== undefined &&
      (state === 'output-available' || (state === 'output-error' && errorText !== unanswered)) &&
      !later.some((other) => other.toolCallId === toolCallId);
    // Older versions of the SDK show the results that stay where their calls were.
    valid = [...valid.slice(0, Math.max(0, step)), ...valid.slice(Math.max(0, step)).filter(isKept)];
  }
  return valid;
}
