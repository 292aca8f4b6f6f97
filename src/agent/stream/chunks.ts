/**
 * What a stream may carry: the chunks of the v5 UI message stream, with the fields that v5 knows. Its clients check
 * strictly, and newer versions of the SDK say more (docs/specification/agent.md#streams: no compatibility beyond v5 is asked for).
 */
import type { UIMessageChunk } from 'ai';

export type Chunk = UIMessageChunk;

/** Without `dynamic`: the SDK says it of a call of an unknown tool, but not from its first chunk on, and v5 makes two of it. */
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
  'message-metadata': ['messageMetadata'],
  finish: ['messageMetadata'],
  abort: [],
  error: ['errorText'],
};
const dataFields = ['id', 'data'];

/** `undefined`: v5 does not know it. What no database can keep (NUL, lone surrogates) is taken out. */
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

/** The same, but for characters that PostgreSQL refuses. */
export function storable<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  return text !== undefined && unstorable.test(text) ? (cleaned(value) as Value) : value;
}

export function isStorable(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text === undefined || !unstorable.test(text) || JSON.stringify(cleaned(value)) === text;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed();
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleaned(key), cleaned(member)]));
}
