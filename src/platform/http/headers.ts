/** Headers as they were sent. Node drops duplicates of some headers. */
import type { FastifyRequest } from 'fastify';

/** Returns how many times the request has the header. `name` is in lower case. */
export function countHeader({ raw: { rawHeaders } }: FastifyRequest, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index];
    if (sent?.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}
