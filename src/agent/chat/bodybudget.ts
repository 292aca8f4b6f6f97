/**
 * Limits the memory of large request bodies: so many bytes may arrive at once. If there is no room for another body, the user
 * with the most bytes loses the oldest one. Otherwise one user with slow bodies could block all others.
 */
import type { IncomingMessage } from 'node:http';
import { problems } from '#platform/problem.ts';

interface Arriving {
  readonly userId: string;
  readonly bytes: number;
  readonly request: IncomingMessage;
}

/** A body without a declared length counts as the largest. Throws `overloaded`. */
export type BodyBudget = (userId: string, request: IncomingMessage) => void;

export function createBodyBudget(maxBytes: number, largestBytes: number): BodyBudget {
  /** The oldest first. */
  const arriving = new Set<Arriving>();

  function bytesByUser(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { userId, bytes } of arriving) sums.set(userId, (sums.get(userId) ?? 0) + bytes);
    return sums;
  }

  /** Returns `false` if no user has more than `bytes`. */
  function dropFromUserWithMoreThan(bytes: number, sums: ReadonlyMap<string, number>): boolean {
    const most = Math.max(...sums.values());
    if (most <= bytes) return false;
    for (const body of arriving) {
      if (sums.get(body.userId) !== most) continue;
      arriving.delete(body);
      body.request.destroy();
      return true;
    }
    return false;
  }

  return (userId, request) => {
    const bytes = Math.min(Number(request.headers['content-length'] ?? largestBytes), largestBytes);
    for (;;) {
      const sums = bytesByUser();
      const all = [...sums.values()].reduce((sum, one) => sum + one, 0);
      if (all + bytes <= maxBytes) break;
      if (!dropFromUserWithMoreThan((sums.get(userId) ?? 0) + bytes, sums)) throw problems.overloaded();
    }
    const body = { userId, bytes, request };
    arriving.add(body);
    request.once('close', () => arriving.delete(body));
  };
}
