/**
 * The chunks that a stream may carry: those of the v5 UI message stream, with the fields that v5 knows. Its clients
 * validate strictly, and newer versions of the SDK emit more (docs/specification/agent.md#streams).
 */
import type { UIMessage, UIMessageChunk } from 'ai';
import type { Batch } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runstore.ts';
import chunkFields from './chunkfields.json' with { type: 'json' };

export type Chunk = UIMessageChunk;

/**
 * Without `dynamic`: the SDK sets it for an unknown tool, but not on the first chunk, and v5 then shows two parts. The types about
 * approvals and denials are of version 6. A run has them only if a tool needs approval.
 */
const fieldsByType: Readonly<Record<string, readonly string[]>> = chunkFields;
const dataFields = ['id', 'data', 'transient'];

/** `undefined` if v5 does not know the chunk. Characters that no database stores (NUL, lone surrogates) are removed. */
export function toV5(chunk: Chunk): Chunk | undefined {
  const fields = chunk.type.startsWith('data-') ? dataFields : fieldsByType[chunk.type];
  if (fields === undefined) return undefined;
  const kept = fields.flatMap((field): [string, unknown][] => {
    const value: unknown = Reflect.get(chunk, field);
    return value === undefined ? [] : [[field, value]];
  });
  const known: unknown = { type: chunk.type, ...Object.fromEntries(kept) };
  return storable(known) as Chunk;
}

const unstorable = /\\u0000|\\ud[89a-f]/i;

/** Removes the characters that PostgreSQL refuses. */
export function storable<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  return text !== undefined && unstorable.test(text) ? (cleaned(value) as Value) : value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed();
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleaned(key), cleaned(member)]));
}

// Rebuilds the stream of an ended run from its stored message, for readers when the event log is lost.

/** The last event of a run's stream. If it is known, the metadata of the whole answer goes with it. */
export function lastChunk(run: Pick<Run, 'status' | 'error'>, metadata?: Readonly<Record<string, unknown>>): Chunk {
  if (run.status === 'completed') return { type: 'finish', ...(metadata && { messageMetadata: metadata }) };
  if (run.status === 'aborted') return { type: 'abort' };
  return { type: 'error', errorText: run.error ?? 'The run failed.' };
}

/** A reader that has read a part of the lost stream gets the end alone: it is unknown what it has read of the rest. */
export function replayRun(
  run: Run,
  afterSeq: number,
  message: Pick<UIMessage, 'parts' | 'metadata'> | undefined,
): Batch {
  const body = afterSeq > 0 ? [] : replayMessage(run.messageId, message);
  const events = [...body, lastChunk(run)].map((chunk) => JSON.stringify(chunk));
  return { firstSeq: afterSeq + 1, lastSeq: afterSeq + events.length, events, isLast: true };
}

function replayMessage(messageId: string, message: Pick<UIMessage, 'parts' | 'metadata'> | undefined): Chunk[] {
  const start: Chunk = {
    type: 'start',
    messageId,
    ...(message?.metadata ? { messageMetadata: message.metadata } : {}),
  };
  let isInStep = false;
  const steps = (message?.parts ?? []).flatMap((part, index): Chunk[] => {
    if (part.type !== 'step-start') return chunksOf(part, `restored-${index}`);
    const chunks: Chunk[] = isInStep ? [{ type: 'finish-step' }, { type: 'start-step' }] : [{ type: 'start-step' }];
    isInStep = true;
    return chunks;
  });
  return [start, ...steps, ...(isInStep ? [{ type: 'finish-step' } as const] : [])];
}

/** The chunks of a message that a run continues, for readers who have none of it. Each one is one event. */
export function replayParts(messageId: string, parts: UIMessage['parts']): readonly Chunk[] {
  return replayMessage(messageId, { parts, metadata: undefined }).flatMap((chunk) => toV5(chunk) ?? []);
}

/** `id`: of a text. */
export function chunksOf(part: UIMessage['parts'][number], id: string): Chunk[] {
  if (part.type === 'text' || part.type === 'reasoning') {
    const { providerMetadata } = part;
    return [
      { type: `${part.type}-start`, id, ...(providerMetadata && { providerMetadata }) },
      { type: `${part.type}-delta`, id, delta: part.text },
      { type: `${part.type}-end`, id },
    ];
  }
  if (part.type.startsWith('data-') && 'data' in part) {
    return [{ type: part.type as `data-${string}`, ...('id' in part ? { id: part.id } : {}), data: part.data }];
  }
  if (part.type === 'file') {
    const { type, url, mediaType, providerMetadata } = part;
    return [{ type, url, mediaType, ...(providerMetadata && { providerMetadata }) }];
  }
  if (part.type === 'source-url' || part.type === 'source-document') return [part];
  if (!('toolCallId' in part)) return [];
  const { toolCallId, input } = part;
  const call = { toolCallId, toolName: part.type.slice('tool-'.length) };
  const metadata = 'callProviderMetadata' in part ? part.callProviderMetadata : undefined;
  const called: Chunk = {
    type: 'tool-input-available',
    ...call,
    input,
    ...(metadata && { providerMetadata: metadata }),
  };
  if (part.state === 'output-available')
    return [called, { type: 'tool-output-available', toolCallId, output: part.output }];
  if (part.state === 'output-error')
    return [called, { type: 'tool-output-error', toolCallId, errorText: part.errorText }];
  const approvalId = 'approval' in part ? part.approval?.id : undefined;
  if (approvalId === undefined) return [called];
  const asked: Chunk = { type: 'tool-approval-request', approvalId, toolCallId };
  return part.state === 'output-denied' ? [called, asked, { type: 'tool-output-denied', toolCallId }] : [called, asked];
}
