/**
 * What the chunks of a stream amount to: the parts of the message, as the AI SDK's client puts them together. Folded
 * while a run goes on, and from the log for a run whose instance died.
 */
import type { UIMessage } from 'ai';
import type { Chunk } from './chunks.ts';

type Part = UIMessage['parts'][number];

/** Parts are open records here: the union of the SDK's types is theirs to narrow. */
type OpenPart = Record<string, unknown> & { type: string };

export interface Fold {
  add(chunk: Chunk): void;
  /** As they stand; what is unfinished is closed, so that the next turn and every client can use them. */
  parts(): Part[];
}

const unanswered = 'The run ended before this tool had answered.';

export function createFold(): Fold {
  const parts: OpenPart[] = [];
  const texts = new Map<string, OpenPart & { text: string }>();
  const tools = new Map<string, OpenPart>();
  const data = new Map<string, OpenPart>();

  function startText(type: 'text' | 'reasoning', id: string, metadata: unknown): void {
    const part = {
      type,
      text: '',
      state: 'streaming',
      ...(metadata === undefined ? {} : { providerMetadata: metadata }),
    };
    parts.push(part);
    texts.set(`${type} ${id}`, part);
  }

  function toolPart({ toolCallId, toolName }: { toolCallId: string; toolName: string }): OpenPart {
    const known = tools.get(toolCallId);
    if (known !== undefined) return known;
    const part: OpenPart = { type: `tool-${toolName}`, toolCallId };
    parts.push(part);
    tools.set(toolCallId, part);
    return part;
  }

  function addData(chunk: { type: string; id?: string; data: unknown }): void {
    const key = chunk.id === undefined ? undefined : `${chunk.type} ${chunk.id}`;
    const known = key === undefined ? undefined : data.get(key);
    if (known !== undefined) {
      known.data = chunk.data;
      return;
    }
    const part = { ...chunk };
    parts.push(part);
    if (key !== undefined) data.set(key, part);
  }

  function add(chunk: Chunk): void {
    switch (chunk.type) {
      case 'start-step':
        parts.push({ type: 'step-start' });
        return;
      case 'text-start':
        startText('text', chunk.id, chunk.providerMetadata);
        return;
      case 'reasoning-start':
        startText('reasoning', chunk.id, chunk.providerMetadata);
        return;
      case 'text-delta':
      case 'reasoning-delta': {
        const part = texts.get(`${chunk.type.replace('-delta', '')} ${chunk.id}`);
        if (part !== undefined) part.text += chunk.delta;
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = texts.get(`${chunk.type.replace('-end', '')} ${chunk.id}`);
        if (part !== undefined) part.state = 'done';
        return;
      }
      case 'tool-input-start':
        Object.assign(toolPart(chunk), { state: 'input-streaming', input: undefined });
        return;
      case 'tool-input-available':
        Object.assign(toolPart(chunk), { state: 'input-available', input: chunk.input, ...callMetadata(chunk) });
        return;
      case 'tool-input-error':
        Object.assign(toolPart(chunk), {
          state: 'output-error',
          input: chunk.input,
          errorText: chunk.errorText,
        });
        return;
      case 'tool-output-available':
        Object.assign(tools.get(chunk.toolCallId) ?? {}, { state: 'output-available', output: chunk.output });
        return;
      case 'tool-output-error':
        Object.assign(tools.get(chunk.toolCallId) ?? {}, { state: 'output-error', errorText: chunk.errorText });
        return;
      default:
        if (isData(chunk)) addData(chunk);
    }
  }

  return { add, parts: () => parts.map(closed) };
}

const isData = (chunk: { type: string }): chunk is { type: `data-${string}`; id?: string; data: unknown } =>
  chunk.type.startsWith('data-');

function callMetadata(chunk: { providerMetadata?: unknown }): object {
  return chunk.providerMetadata === undefined ? {} : { callProviderMetadata: chunk.providerMetadata };
}

/** A text that broke off is as long as it is; a tool that never answered says so. */
function closed(part: OpenPart): Part {
  const isOpenTool = part.state === 'input-streaming' || part.state === 'input-available';
  const changes = isOpenTool
    ? { state: 'output-error', input: part.input ?? {}, errorText: unanswered }
    : part.state === 'streaming'
      ? { state: 'done' }
      : {};
  // Each of them was built above after the SDK's own shapes.
  return structuredClone({ ...part, ...changes }) as unknown as Part;
}
