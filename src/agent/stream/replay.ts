/** Rebuilds the stream of an ended run from its stored message, for readers when the event log is lost. */
import type { UIMessage } from 'ai';
import type { Batch } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runstore.ts';
import { type Chunk, toV5 } from './chunks.ts';

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
