/**
 * Makes tool call ids distinct within a run and storable. They name images, videos and ledger references, but some
 * providers start counting again at each step.
 */
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { storable } from '../stream/chunks.ts';

/** The same model, for one run: no id occurs twice, and ids and arguments can be stored. */
export function withDistinctToolCallIds(model: LanguageModelV4): LanguageModelV4 {
  const taken = new Set<string>();
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      wrapStream: async ({ doStream }) => {
        const result = await doStream();
        return { ...result, stream: result.stream.pipeThrough(renaming(taken)) };
      },
    },
  });
}

function renaming(taken: Set<string>) {
  /** Names of the calls whose arguments are still streaming. */
  const open = new Map<string, string>();
  const nameOf = (id: string) => {
    const name = open.get(id) ?? unusedName(storable(id), taken);
    taken.add(name);
    open.set(id, name);
    return name;
  };
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      switch (part.type) {
        case 'tool-input-start':
        case 'tool-input-delta':
        case 'tool-input-end':
          return controller.enqueue({ ...part, id: nameOf(part.id) });
        case 'tool-call':
          controller.enqueue({ ...part, toolCallId: nameOf(part.toolCallId), input: storableJson(part.input) });
          open.delete(part.toolCallId);
          return;
        default:
          controller.enqueue(part);
      }
    },
  });
}

function unusedName(id: string, taken: ReadonlySet<string>): string {
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
