/**
 * The same JavaScript values from both engines, by type OID. Beyond what both do alike (numbers, booleans, timestamptz as
 * Date, jsonb parsed, arrays): int8 is a safe integer, bytea a Buffer; date, timestamp without zone and interval stay text.
 */

type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;

export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} is beyond the safe integers; select it as text`);
  return value;
}

export const parsers: Readonly<Record<number, Parse>> = {
  17: (text) => Buffer.from(text.slice(2), 'hex'), // bytea: \x…
  20: parseInt8,
  1082: asText, // date
  1114: asText, // timestamp
  1186: asText, // interval
};
