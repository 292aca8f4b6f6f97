/** Which failures of a provider are retried, and when (docs/specification/agent.md#provider-failures). */
import { setTimeout as sleep } from 'node:timers/promises';

export const maxTries = 3;
const baseDelayMs = 500;
const maxRetryAfterMs = 30_000;

export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Waits before the next attempt. `false`: the provider requested more than 30 s, so there is no next attempt. Rejects
 * with the signal's reason when it is aborted.
 */
export async function waitBeforeRetry(
  tries: number,
  retryAfter: string | null | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const requestedMs = parseRetryAfter(retryAfter);
  if (requestedMs !== undefined && requestedMs > maxRetryAfterMs) return false;
  const delayMs = requestedMs ?? baseDelayMs * 2 ** (tries - 1) * (0.75 + Math.random() / 2);
  try {
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  return true;
}

/** Milliseconds from now: `Retry-After` holds seconds or a date (RFC 9110, section 10.2.3). */
export function parseRetryAfter(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined || header.trim() === '') return undefined;
  if (/^\s*\d{1,9}(?:[.]\d{1,9})?\s*$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}
