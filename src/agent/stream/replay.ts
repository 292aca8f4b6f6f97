/** A stream told again by the message that it left, where its log is gone: what readers of an ended run are shown. */
import type { UIMessage } from 'ai';
import type { Chunk } from './chunks.ts';
import type { Batch } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runs.ts';

/** How a run's stream ends. */
export function lastChunk(run: Pick<Run, 'status' | 'error'>): Chunk {
  if (run.status === 'completed') return { type: 'finish' };
  if (run.status === 'aborted') return { type: 'abort' };
  return { type: 'error', errorText: run.error ?? 'The run failed.' };
}

/** After something of it was read only the end is told, as nobody can say what of the rest was read. */
export function restoreStream(
  run: Run,
  afterSeq: number,
  message: Pick<UIMessage, 'parts' | 'metadata'> | undefined,
): Batch {
  const body = afterSeq > 0 ? [] : retell(run.messageId, message);
  const events = [...body, lastChunk(run)].map((chunk) => JSON.stringify(chunk));
  return { firstSeq: afterSeq + 1, lastSeq: afterSeq + events.length, events, isLast: true };
}

function retell(messageId: string, message: Pick<UIMessage, 'parts' | 'metadata'> | undefined): Chunk[] {
  const start: Chunk = { type: 'start', messageId, ...(message ? { messageMetadata: message.metadata } : {}) };
  let isInStep = false;
  const steps = (message?.parts ?? []).flatMap((part, index): Chunk[] => {
    if (part.type !== 'step-start') return chunksOf(part, `restored-${index}`);
    const chunks: Chunk[] = isInStep ? [{ type: 'finish-step' }, { type: 'start-step' }] : [{ type: 'start-step' }];
    isInStep = true;
    return chunks;
  });
  return [start, ...steps, ...(isInStep ? [{ type: 'finish-step' } as const] : [])];
}

function chunksOf(part: UIMessage['parts'][number], id: string): Chunk[] {
  if (part.type === 'text' || part.type === 'reasoning') {
    return [
      { type: `${part.type}-start`, id },
      { type: `${part.type}-delta`, id, delta: part.text },
      { type: `${part.type}-end`, id },
    ];
  }
  if (part.type.startsWith('data-') && 'data' in part) {
    return [{ type: part.type as `data-${string}`, ...('id' in part ? { id: part.id } : {}), data: part.data }];
  }
  if (!('toolCallId' in part)) return [];
  const { toolCallId, input } = part;
  const call = { toolCallId, toolName: part.type.slice('tool-'.length) };
  const called: Chunk = { type: 'tool-input-available', ...call, input };
  if (part.state === 'output-available')
    return [called, { type: 'tool-output-available', toolCallId, output: part.output }];
  if (part.state === 'output-error')
    return [called, { type: 'tool-output-error', toolCallId, errorText: part.errorText }];
  return [called];
}
