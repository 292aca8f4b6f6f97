/**
 * The same JavaScript values on both engines, by type OID. Besides what both do (numbers, booleans, timestamptz as
 * Date, jsonb parsed, arrays of these): int8 is a safe integer, bytea a Buffer; date, timestamp without zone, interval and
 * numeric stay text.
 */

export type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} exceeds the safe integers; select it as text`);
  return value;
}

export const parsers: Readonly<Record<number, Parse>> = {
  17: (text) => Buffer.from(text.slice(2), 'hex'), // bytea: \x…
  20: parseInt8,
  1082: asText, // date
  1114: asText, // timestamp
  1186: asText, // interval
  1700: asText, // numeric
};

/** Array type → element type, for the engine (pg) that does not derive the one from the other. */
export const elementTypes: Readonly<Record<number, number>> = {
  1001: 17,
  1016: 20,
  1115: 1114,
  1182: 1082,
  1187: 1186,
  1231: 1700,
};

/**
 * What a parameter may be. Bare objects are refused because the engines disagree on them; so PGlite's jsonb takes text
 * alone (`refuseBareJson`): an array that pg would send as a PostgreSQL array must not pass the tests there.
 */
export function assertParameters(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    const plain = typeof value !== 'object' || value === null || Array.isArray(value);
    if (!plain && !(value instanceof Date) && !(value instanceof Uint8Array))
      throw new TypeError('An object cannot be a query parameter; use json() for jsonb');
  }
}

export function refuseBareJson(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('Use json() for jsonb parameters');
  return value;
}
