/**
 * Writes the events of one run: coalesces chunks for a few milliseconds, appends them to the event log, and hands each
 * acknowledged batch to the readers' buffer. A chunk is part of the message as soon as it is written, so readers never
 * see anything that the message lacks. A writer is in one of these modes:
 *
 * - `open`: takes chunks. May become `finishing`, `failed`.
 * - `finishing`: takes no chunks; appends what is pending. May become `failed`, `closed`.
 * - `failed`: the log refused a batch. Nothing but the last event can be appended. May become `closed`.
 * - `closed`: the last event was written. Final.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import type { Appended, Batch, EventLog } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runstore.ts';
import { type Chunk, toV5 } from './chunks.ts';
import { assertTransition, type OwnedRunBuffer, type Transitions } from './runbuffer.ts';

// Events that wait for the next append. Consecutive deltas of one text become a single event.

interface OpenDelta {
  readonly type: 'text-delta' | 'reasoning-delta';
  readonly id: string;
  delta: string;
}

/** The characters of a delta's JSON beside its text. */
const deltaOverhead = 60;

class PendingEvents {
  #events: string[] = [];
  #openDelta: OpenDelta | undefined;
  #size = 0;
  #totalSize = 0;

  /** In characters of JSON, approximately. */
  get size(): number {
    return this.#size;
  }

  /** Of everything that was ever added. */
  get totalSize(): number {
    return this.#totalSize;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#openDelta === undefined;
  }

  add(chunk: Chunk): void {
    const isDelta = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta';
    if (!isDelta || chunk.providerMetadata !== undefined) {
      this.#closeDelta();
      const event = JSON.stringify(chunk);
      this.#events.push(event);
      this.#count(event.length);
      return;
    }
    const { type, id, delta } = chunk;
    if (this.#openDelta?.type === type && this.#openDelta.id === id) {
      this.#openDelta.delta += delta;
      this.#count(delta.length);
      return;
    }
    this.#closeDelta();
    this.#openDelta = { type, id, delta };
    this.#count(delta.length + deltaOverhead);
  }

  /** All that waits, in order; after this nothing waits. */
  take(): readonly string[] {
    this.#closeDelta();
    const events = this.#events;
    this.#events = [];
    this.#size = 0;
    return events;
  }

  #closeDelta(): void {
    if (this.#openDelta !== undefined) this.#events.push(JSON.stringify(this.#openDelta));
    this.#openDelta = undefined;
  }

  #count(size: number): void {
    this.#size += size;
    this.#totalSize += size;
  }
}

/** Another process executes the run. */
export class RunFenced extends Error {}
/** The message of these two is shown to the user. */
export class EventLogLost extends Error {}
export class RunTooLong extends Error {}

export interface EventWriterOptions {
  readonly eventLog: EventLog;
  readonly buffer: OwnedRunBuffer;
  /** How long chunks are coalesced. */
  readonly windowMs?: number;
  /** The largest stream of a run, in characters of JSON. */
  readonly maxSize?: number;
}

/** What readers have of a run or a message that goes on. */
export interface Shown {
  readonly message: MessageAssembler;
  readonly lastSeq: number;
}

type WriterState =
  | { readonly mode: 'open' }
  | { readonly mode: 'finishing' }
  | { readonly mode: 'failed'; readonly error: Error }
  | { readonly mode: 'closed' };

const permitted: Transitions<WriterState['mode']> = {
  open: ['finishing', 'failed'],
  finishing: ['failed', 'closed'],
  failed: ['closed'],
  closed: [],
};

/** Most of the cost is per append. Shorter than a reader notices. */
const defaultWindowMs = 20;
/** More than a thousand pages. */
const defaultMaxSize = 16 * 1024 * 1024;
const maxPendingSize = 256 * 1024;
const appendTries = 4;
const retryAfterMs = 250;

export class EventWriter {
  readonly #deps: EventWriterOptions;
  readonly #run: Run;
  readonly #message: MessageAssembler;
  readonly #pending = new PendingEvents();
  readonly #windowMs: number;
  readonly #maxSize: number;
  #state: WriterState = { mode: 'open' };
  /** Of the next append, while none is under way. */
  #timer: NodeJS.Timeout | undefined;
  #appending: Promise<void> | undefined;
  #lastSeq = 0;
  #lastAppendAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    deps: EventWriterOptions,
    run: Run,
    { message, lastSeq }: Shown = { message: new MessageAssembler(), lastSeq: 0 },
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#message = message;
    this.#lastSeq = lastSeq;
    this.#windowMs = deps.windowMs ?? defaultWindowMs;
    this.#maxSize = deps.maxSize ?? defaultMaxSize;
  }

  /**
   * Resolves when the writer can take more. Rejects with EventLogLost, RunTooLong or RunFenced once nothing more can be
   * written. Ignores chunks that arrive after `finish`, which a tool that does not obey its signal may still send.
   */
  async write(chunk: Chunk): Promise<void> {
    const known = toV5(chunk);
    if (known === undefined) return;
    if (this.#state.mode === 'open' && this.#pending.totalSize > this.#maxSize) {
      await this.#settle();
      this.#fail(new RunTooLong('The answer is too long.'));
    }
    if (this.#state.mode === 'failed') throw this.#state.error;
    if (this.#state.mode !== 'open') return;
    this.#message.add(known);
    this.#pending.add(known);
    if (this.#pending.size < maxPendingSize) this.#schedule();
    else await this.#appendPending();
  }

  /** As `write`, for chunks of parts that the message has already. */
  async replay(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) this.#pending.add(chunk);
    await this.#appendPending();
    if (this.#state.mode === 'failed') throw this.#state.error;
  }

  /** Resolves when all chunks are appended. Rejects as `write`. */
  async flush(): Promise<void> {
    await this.#settle();
    if (this.#state.mode === 'failed') throw this.#state.error;
  }

  /** The parts of the message that was written so far. */
  parts(): UIMessage['parts'] {
    return this.#message.parts();
  }

  /** The parts of the current step. */
  stepParts(): UIMessage['parts'] {
    return this.#message.stepParts();
  }

  /** open → finishing. Resolves when all chunks are appended; if they cannot be, with the reason. */
  async finish(): Promise<Error | undefined> {
    if (this.#state.mode === 'open') this.#become({ mode: 'finishing' });
    await this.#settle();
    return this.#state.mode === 'failed' ? this.#state.error : undefined;
  }

  /** finishing, failed → closed: writes the last event, which contains the outcome of the run. Never rejects. */
  async close(lastChunk: Chunk): Promise<void> {
    this.#become({ mode: 'closed' });
    const events = [JSON.stringify(toV5(lastChunk) ?? lastChunk)];
    const batch = { firstSeq: this.#lastSeq + 1, lastSeq: this.#lastSeq + 1, events, isLast: true };
    const outcome = await this.#tryAppend(batch);
    // If the log did not take it, readers elsewhere see the same end by the run's row.
    if (outcome === 'fenced') this.#deps.buffer.release();
    else this.#deps.buffer.append(batch);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#appending !== undefined) return;
    const waitMs = Math.max(0, this.#windowMs - (performance.now() - this.#lastAppendAtMs));
    this.#timer = setTimeout(() => void this.#appendPending(), waitMs);
  }

  /** One append at a time. What is written during it goes with the next one. */
  #appendPending(): Promise<void> {
    this.#unschedule();
    this.#appending ??= this.#appendBatch().finally(() => {
      this.#appending = undefined;
      if (this.#state.mode !== 'failed' && !this.#pending.isEmpty) this.#schedule();
    });
    return this.#appending;
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #appendBatch(): Promise<void> {
    if (this.#pending.isEmpty || this.#state.mode === 'failed') return;
    const events = this.#pending.take();
    this.#lastAppendAtMs = performance.now();
    const batch = { firstSeq: this.#lastSeq + 1, lastSeq: this.#lastSeq + events.length, events, isLast: false };
    const outcome = await this.#tryAppend(batch);
    if (outcome === 'fenced') return this.#fail(new RunFenced());
    if (outcome !== 'appended') {
      const cause = outcome === 'vanished' ? new Error('the log lacks what was appended before') : outcome.cause;
      return this.#fail(new EventLogLost('The stream of this run was lost.', { cause }));
    }
    this.#lastSeq = batch.lastSeq;
    this.#deps.buffer.append(batch);
  }

  async #tryAppend(batch: Batch): Promise<Appended | { readonly cause: unknown }> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#deps.eventLog.append(this.#run, batch);
      } catch (cause) {
        if (tries === appendTries) return { cause };
        await sleep(retryAfterMs * tries);
      }
    }
  }

  /** Resolves when nothing is pending, or the writer has failed. */
  async #settle(): Promise<void> {
    while (this.#state.mode !== 'failed' && (this.#appending !== undefined || !this.#pending.isEmpty))
      await this.#appendPending();
    this.#unschedule();
  }

  /** open, finishing → failed; the first failure stays. */
  #fail(error: Error): void {
    if (this.#state.mode === 'open' || this.#state.mode === 'finishing') this.#become({ mode: 'failed', error });
  }

  #become(next: WriterState): void {
    assertTransition('event writer', permitted, this.#state.mode, next.mode);
    this.#state = next;
  }
}

// Assembles the parts of a message from the chunks of its stream, as the AI SDK's client does. Used while a run is
// executed, and to read the log of a run whose process died.

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
