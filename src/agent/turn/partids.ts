/**
 * Makes the ids of tool calls and texts distinct within a run, and storable. Calls name images, videos and ledger references, but
 * some providers start counting again at each step.
 */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { storable } from '../stream/chunks.ts';

/** The parts of one run: no id occurs twice, and ids and arguments can be stored. */
export class PartIds {
  readonly #takenCalls: Set<string>;
  readonly #takenTexts = new Set<string>();
  readonly #takenReasonings = new Set<string>();

  /** `taken`: the ids of earlier tool calls of the run. */
  constructor(taken: Iterable<string> = []) {
    this.#takenCalls = new Set(taken);
  }

  /** Returns a function that renames the ids in the parts of one step. */
  forStep(): (part: LanguageModelV4StreamPart) => LanguageModelV4StreamPart {
    /** The new ids of the calls whose arguments are still streaming. */
    const calls = new Map<string, string>();
    const texts = new Map<string, string>();
    const reasonings = new Map<string, string>();
    return (part) => {
      switch (part.type) {
        case 'text-start':
          return { ...part, id: newId(part.id, texts, this.#takenTexts) };
        case 'reasoning-start':
          return { ...part, id: newId(part.id, reasonings, this.#takenReasonings) };
        case 'text-delta':
          return { ...part, id: texts.get(part.id) ?? part.id };
        case 'reasoning-delta':
          return { ...part, id: reasonings.get(part.id) ?? part.id };
        case 'text-end':
          return { ...part, id: closedId(part.id, texts) };
        case 'reasoning-end':
          return { ...part, id: closedId(part.id, reasonings) };
        case 'tool-input-start':
        case 'tool-input-delta':
        case 'tool-input-end':
          return { ...part, id: newId(part.id, calls, this.#takenCalls) };
        case 'tool-call': {
          const toolCallId = newId(part.toolCallId, calls, this.#takenCalls);
          calls.delete(part.toolCallId);
          return { ...part, toolCallId, input: storableJson(part.input) };
        }
        default:
          return part;
      }
    };
  }
}

function newId(id: string, open: Map<string, string>, taken: Set<string>): string {
  const known = open.get(id);
  if (known !== undefined) return known;
  const unused = unusedId(storable(id), taken);
  taken.add(unused);
  open.set(id, unused);
  return unused;
}

function closedId(id: string, open: Map<string, string>): string {
  const known = open.get(id) ?? id;
  open.delete(id);
  return known;
}

function unusedId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id;
  for (let number = 2; ; number++) if (!taken.has(`${id}-${number}`)) return `${id}-${number}`;
}

function storableJson(input: string): string {
  try {
    return JSON.stringify(storable(JSON.parse(input)));
  } catch {
    // The SDK reports invalid JSON to the model.
    return storable(input);
  }
}
