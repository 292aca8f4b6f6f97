/** Identifiers: UUIDs, and random hex digits. */
import { randomFillSync } from 'node:crypto';

/** Random bytes are fetched a page at a time: asking the system for a few of them costs more than the rest of a request's ids. */
const page = Buffer.alloc(4096);
let used = page.length;

/** Twice as many lower-case hex digits as `bytes`, none of which is ever given out again. At most 64 bytes. */
export function randomHex(bytes: number): string {
  if (used + bytes > page.length) {
    randomFillSync(page);
    used = 0;
  }
  used += bytes;
  return page.toString('hex', used - bytes, used);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of any version, in any case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
