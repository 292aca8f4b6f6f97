/**
 * Assembles the parts of a message from the chunks of its stream, as the AI SDK's client does. Used while a run is
 * executed, and to read the log of a run whose process died.
 */
import type { UIMessage } from 'ai';
import type { Chunk } from './chunks.ts';

type Part = UIMessage['parts'][number];

/** A part under construction. Only the SDK can narrow the union of its part types. */
type OpenPart = Record<string, unknown> & { type: string };

/** The parts of the current step are void: another process requests them from the model again. */
export const restarted = 'data-restarted';

const unanswered = 'The run ended before this tool returned.';

export class MessageAssembler {
  readonly #parts: OpenPart[] = [];
  readonly #texts = new Map<string, OpenPart & { text: string }>();
  readonly #tools = new Map<string, OpenPart>();
  readonly #data = new Map<string, OpenPart>();
  /** Where the parts of the current step begin. */
  #stepStart = 0;
  #isStepOpen = false;
  readonly #callIds = new Set<string>();
  #finishedSteps = 0;

  /** `parts`: of the message that a run continues. */
  constructor(parts: readonly Part[] = []) {
    for (const part of structuredClone(parts) as unknown as OpenPart[]) {
      this.#parts.push(part);
      if (typeof part.toolCallId === 'string') {
        this.#tools.set(part.toolCallId, part);
        this.#callIds.add(part.toolCallId);
      }
      if (part.type.startsWith('data-') && typeof part.id === 'string') this.#data.set(`${part.type} ${part.id}`, part);
    }
    this.#stepStart = this.#parts.length;
  }

  /** Steps that have begun and not ended. */
  get isStepOpen(): boolean {
    return this.#isStepOpen;
  }

  /** Of all tool calls that were shown, also of void ones. */
  get callIds(): ReadonlySet<string> {
    return this.#callIds;
  }

  /** Steps whose end was shown. */
  get finishedSteps(): number {
    return this.#finishedSteps;
  }

  add(chunk: Chunk): void {
    switch (chunk.type) {
      case 'start-step':
        this.#stepStart = this.#parts.length;
        this.#isStepOpen = true;
        this.#parts.push({ type: 'step-start' });
        return;
      case 'finish-step':
        // The end of a void step.
        if (!this.#isStepOpen) return;
        this.#isStepOpen = false;
        this.#finishedSteps += 1;
        return;
      case restarted:
        this.#dropStep();
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
        if (part === undefined) return;
        part.text += chunk.delta;
        if (chunk.providerMetadata !== undefined) part.providerMetadata = chunk.providerMetadata;
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = this.#texts.get(`${chunk.type.replace('-end', '')} ${chunk.id}`);
        if (part === undefined) return;
        part.state = 'done';
        if (chunk.providerMetadata !== undefined) part.providerMetadata = chunk.providerMetadata;
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
      case 'tool-approval-request':
        Object.assign(this.#tools.get(chunk.toolCallId) ?? {}, {
          state: 'approval-requested',
          approval: { id: chunk.approvalId },
        });
        return;
      case 'tool-output-denied':
        Object.assign(this.#tools.get(chunk.toolCallId) ?? {}, { state: 'output-denied' });
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

  /** Of the current step, or of the last one if none is open. */
  stepParts(): Part[] {
    return this.#parts.slice(this.#stepStart).map(closed);
  }

  /** The chunks that close the open parts of the current step. */
  closing(): Chunk[] {
    return this.#parts.slice(this.#stepStart).flatMap((part): Chunk[] => {
      if (part.state === 'streaming') {
        const [key] = [...this.#texts].find(([, text]) => text === part) ?? [];
        const id = key?.slice(part.type.length + 1) ?? '';
        return [part.type === 'text' ? { type: 'text-end', id } : { type: 'reasoning-end', id }];
      }
      if (part.state !== 'input-streaming' && part.state !== 'input-available') return [];
      return [{ type: 'tool-output-error', toolCallId: String(part.toolCallId), errorText: unanswered }];
    });
  }

  #dropStep(): void {
    const dropped = new Set(this.#parts.splice(this.#stepStart));
    for (const known of [this.#texts, this.#tools, this.#data])
      for (const [key, part] of known) if (dropped.has(part)) known.delete(key);
    this.#isStepOpen = false;
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
    this.#callIds.add(toolCallId);
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
  const isAnswered = part.state === 'approval-responded';
  if (isAnswered && Reflect.get(Object(part.approval), 'approved') !== true)
    return structuredClone({ ...part, state: 'output-denied' }) as unknown as Part;
  const isOpenTool = isAnswered || part.state === 'input-streaming' || part.state === 'input-available';
  const changes = isOpenTool
    ? { state: 'output-error', input: part.input ?? {}, errorText: unanswered }
    : part.state === 'streaming'
      ? { state: 'done' }
      : {};
  // Every part was built above in the SDK's own shape.
  return structuredClone({ ...part, ...changes }) as unknown as Part;
}
