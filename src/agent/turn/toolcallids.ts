/**
 * Makes tool call ids distinct within a run and storable. They name images, videos and ledger references, but some
 * providers start counting again at each step.
 */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { storable } from '../stream/chunks.ts';

/** The tool calls of one run: no id occurs twice, and ids and arguments can be stored. */
export class ToolCallIds {
  readonly #taken = new Set<string>();

  /** Returns a function that renames the ids in the parts of one step. */
  forStep(): (part: LanguageModelV4StreamPart) => LanguageModelV4StreamPart {
    /** The new ids of the calls whose arguments are still streaming. */
    const open = new Map<string, string>();
    return (part) => {
      switch (part.type) {
        case 'tool-input-start':
        case 'tool-input-delta':
        case 'tool-input-end':
          return { ...part, id: this.#newId(part.id, open) };
        case 'tool-call': {
          const toolCallId = this.#newId(part.toolCallId, open);
          open.delete(part.toolCallId);
          return { ...part, toolCallId, input: storableJson(part.input) };
        }
        default:
          return part;
      }
    };
  }

  #newId(id: string, open: Map<string, string>): string {
    const known = open.get(id);
    if (known !== undefined) return known;
    const unused = this.#unused(storable(id));
    this.#taken.add(unused);
    open.set(id, unused);
    return unused;
  }

  #unused(id: string): string {
    if (!this.#taken.has(id)) return id;
    for (let number = 2; ; number++) if (!this.#taken.has(`${id}-${number}`)) return `${id}-${number}`;
  }
}

function storableJson(input: string): string {
  try {
    return JSON.stringify(storable(JSON.parse(input)));
  } catch {
    // The SDK reports invalid JSON to the model.
    return storable(input);
  }
}
