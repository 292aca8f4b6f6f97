/**
 * Assembles the parts of a message from the chunks of its stream, as the AI SDK's client does. Used while a run is
 * executed, and to read the log of a run whose process died.
 */
import type { UIMessage } from 'ai';
import type { Chunk } from './chunks.ts';

type Part = UIMessage['parts'][number];

/** A part under construction. Only the SDK can narrow the union of its part types. */
type OpenPart = Record<string, unknown> & { type: string };

const unanswered = 'The run ended before this tool returned.';

export class MessageAssembler {
  readonly #parts: OpenPart[] = [];
  readonly #texts = new Map<string, OpenPart & { text: string }>();
  readonly #tools = new Map<string, OpenPart>();
  readonly #data = new Map<string, OpenPart>();

  add(chunk: Chunk): void {
    switch (chunk.type) {
      case 'start-step':
        this.#parts.push({ type: 'step-start' });
        return;
      case 'text-start':
        this.#startText('text', chunk.id, chunk.providerMetadata);
        return;
      case 'reasoning-start':
        this.#startText('reasoning', chunk.id, chunk.providerMetadata);
        return;
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#texts.get(`${chunk.type.replace('-delta', '')} ${chunk.id}`);
        if (part !== undefined) part.text += chunk.delta;
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = this.#texts.get(`${chunk.type.replace('-end', '')} ${chunk.id}`);
        if (part !== undefined) part.state = 'done';
        return;
      }
      case 'tool-input-start':
        Object.assign(this.#toolPart(chunk), { state: 'input-streaming', input: undefined });
        return;
      case 'tool-input-available':
        Object.assign(this.#toolPart(chunk), { state: 'input-available', input: chunk.input, ...callMetadata(chunk) });
        return;
      case 'tool-input-error':
        Object.assign(this.#toolPart(chunk), {
          state: 'output-error',
          input: chunk.input,
          errorText: chunk.errorText,
        });
        return;
      case 'tool-output-available':
        Object.assign(this.#tools.get(chunk.toolCallId) ?? {}, { state: 'output-available', output: chunk.output });
        return;
      case 'tool-output-error':
        Object.assign(this.#tools.get(chunk.toolCallId) ?? {}, { state: 'output-error', errorText: chunk.errorText });
        return;
      case 'file':
        this.#parts.push(storedFile(chunk));
        return;
      case 'source-url':
      case 'source-document':
        this.#parts.push({ ...chunk });
        return;
      default:
        // Transient data is for readers of the stream alone.
        if (isData(chunk) && chunk.transient !== true) this.#addData(chunk);
    }
  }

  /** The parts so far. Unfinished ones are closed, so that the next turn and every client can use them. */
  parts(): Part[] {
    return this.#parts.map(closed);
  }

  #startText(type: 'text' | 'reasoning', id: string, metadata: unknown): void {
    const part = {
      type,
      text: '',
      state: 'streaming',
      ...(metadata === undefined ? {} : { providerMetadata: metadata }),
    };
    this.#parts.push(part);
    this.#texts.set(`${type} ${id}`, part);
  }

  #toolPart({ toolCallId, toolName }: { toolCallId: string; toolName: string }): OpenPart {
    const known = this.#tools.get(toolCallId);
    if (known !== undefined) return known;
    const part: OpenPart = { type: `tool-${toolName}`, toolCallId };
    this.#parts.push(part);
    this.#tools.set(toolCallId, part);
    return part;
  }

  #addData(chunk: { type: string; id?: string; data: unknown }): void {
    const key = chunk.id === undefined ? undefined : `${chunk.type} ${chunk.id}`;
    const known = key === undefined ? undefined : this.#data.get(key);
    if (known !== undefined) {
      known.data = chunk.data;
      return;
    }
    const part = { ...chunk };
    this.#parts.push(part);
    if (key !== undefined) this.#data.set(key, part);
  }
}

/** A signed URL expires, so the message has the asset. */
function storedFile({ url, mediaType, providerMetadata }: Extract<Chunk, { type: 'file' }>): OpenPart {
  const { atelier, ...rest } = providerMetadata ?? {};
  const isOfOthers = Object.keys(rest).length > 0;
  return {
    type: 'file',
    mediaType,
    url: typeof atelier?.assetId === 'string' ? `asset:${atelier.assetId}` : url,
    ...(isOfOthers && { providerMetadata: rest }),
  };
}

const isData = (chunk: {
  type: string;
}): chunk is { type: `data-${string}`; id?: string; data: unknown; transient?: boolean } =>
  chunk.type.startsWith('data-');

function callMetadata(chunk: { providerMetadata?: unknown }): object {
  return chunk.providerMetadata === undefined ? {} : { callProviderMetadata: chunk.providerMetadata };
}

/** A text that broke off ends where it is; a tool without an output gets an error. */
function closed(part: OpenPart): Part {
  const isOpenTool = part.state === 'input-streaming' || part.state === 'input-available';
  const changes = isOpenTool
    ? { state: 'output-error', input: part.input ?? {}, errorText: unanswered }
    : part.state === 'streaming'
      ? { state: 'done' }
      : {};
  // Every part was built above in the SDK's own shape.
  return structuredClone({ ...part, ...changes }) as unknown as Part;
}
