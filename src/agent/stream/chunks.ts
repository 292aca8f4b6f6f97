/**
 * The chunks that a stream may carry: those of the v5 UI message stream, with the fields that v5 knows. Its clients
 * validate strictly, and newer versions of the SDK emit more (docs/specification/agent.md#streams).
 */
import type { UIMessageChunk } from 'ai';

export type Chunk = UIMessageChunk;

/** Without `dynamic`: the SDK sets it for an unknown tool, but not on the first chunk, and v5 then shows two parts. */
const fieldsByType: Readonly<Record<string, readonly string[]>> = {
  start: ['messageId', 'messageMetadata'],
  'start-step': [],
  'finish-step': [],
  'text-start': ['id', 'providerMetadata'],
  'text-delta': ['id', 'delta', 'providerMetadata'],
  'text-end': ['id', 'providerMetadata'],
  'reasoning-start': ['id', 'providerMetadata'],
  'reasoning-delta': ['id', 'delta', 'providerMetadata'],
  'reasoning-end': ['id', 'providerMetadata'],
  'tool-input-start': ['toolCallId', 'toolName', 'providerExecuted'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': ['toolCallId', 'toolName', 'input', 'providerExecuted', 'providerMetadata'],
  'tool-input-error': ['toolCallId', 'toolName', 'input', 'errorText', 'providerExecuted', 'providerMetadata'],
  'tool-output-available': ['toolCallId', 'output', 'providerExecuted', 'preliminary'],
  'tool-output-error': ['toolCallId', 'errorText', 'providerExecuted'],
  // These two are of version 6. A run has them only if a tool needs approval.
  'tool-approval-request': ['approvalId', 'toolCallId'],
  'tool-output-denied': ['toolCallId'],
  file: ['url', 'mediaType', 'providerMetadata'],
  'source-url': ['sourceId', 'url', 'title', 'providerMetadata'],
  'source-document': ['sourceId', 'mediaType', 'title', 'filename', 'providerMetadata'],
  'message-metadata': ['messageMetadata'],
  finish: ['messageMetadata'],
  abort: [],
  error: ['errorText'],
};
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
