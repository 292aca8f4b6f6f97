/** Limits the memory of large request bodies: so many bytes may arrive at once, and a further request gets a 503. */
import type { IncomingMessage } from 'node:http';
import { problems } from '#platform/problem.ts';

/** A body without a declared length counts as the largest. Throws `overloaded`. */
export function createBodyBudget(maxBytes: number, largestBytes: number): (request: IncomingMessage) => void {
  let arrivingBytes = 0;
  return (request) => {
    const bytes = Math.min(Number(request.headers['content-length'] ?? largestBytes), largestBytes);
    if (arrivingBytes + bytes > maxBytes) throw problems.overloaded();
    arrivingBytes += bytes;
    request.once('close', () => {
      arrivingBytes -= bytes;
    });
  };
}
