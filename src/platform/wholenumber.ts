import { z } from 'zod';

const parse = (text: unknown) => (typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text);

/** A number in a query, in digits. `Number` would also accept `1e1`, `0x10`, `2.0` and spaces. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(parse, z.number().int().min(min).max(max));
}

/** As `wholeNumber`; `size` if the query has none. */
export function pageSize(max: number, size: number) {
  return z.preprocess(parse, z.number().int().min(1).max(max).default(size));
}
