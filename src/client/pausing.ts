/** When to retry, and when to give up. */
import { type AtelierError, toAtelierError } from './errors.ts';

export interface Patience {
  /**
   * Consecutive failed attempts before giving up: 4 for a call, 12 for the stream of a run. Attempts are counted instead of timed, so a
   * closed laptop loses no time.
   */
  readonly tries: number;
  /** The delay before the second attempt, doubled for each further one. A longer `Retry-After` takes precedence. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** If no data arrives for this long, the connection is dead. A stream sends something every 15 s. */
  readonly silentMs: number;
}

const defaults: Patience = { tries: 12, firstPauseMs: 200, longestPauseMs: 5000, silentMs: 40_000 };

export const patienceOf = (patience: Partial<Patience> = {}): Patience => ({ ...defaults, ...patience });

/** 24.8 days. A longer timer would end at once. */
const longestTimerMs = 2 ** 31 - 1;

export interface Pauses {
  /** Call this after progress. It resets the count of failures. */
  reset(): void;
  /** Waits before the next attempt. Throws `reason`, as an `AtelierError`, if there is none. */
  pause(reason: unknown): Promise<void>;
}

/** `timeoutMs`: a pause that would end later is not started. */
export function createPauses(
  patience: Partial<Patience> | undefined,
  signal: AbortSignal | undefined,
  timeoutMs = Number.POSITIVE_INFINITY,
): Pauses {
  const { tries, firstPauseMs, longestPauseMs } = patienceOf(patience);
  const startedMs = performance.now();
  let failures = 0;
  return {
    reset() {
      failures = 0;
    },
    async pause(reason) {
      const error = toAtelierError(reason);
      failures += 1;
      if (!isTransient(error) || failures >= tries) throw error;
      const doubledMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      // Half of the delay is random, so that clients that were cut off together do not return together.
      const wantedMs = Math.max(error.retryAfterMs ?? 0, doubledMs * (0.5 + Math.random() / 2));
      const pauseMs = Math.min(wantedMs, longestTimerMs);
      if (performance.now() - startedMs + pauseMs > timeoutMs) throw error;
      await sleep(pauseMs, signal);
    },
  };
}

/**
 * Unreachable, draining, overloaded, a proxy without a server behind it, or an upload that broke off and is still in progress on the
 * server.
 */
function isTransient({ code, status }: AtelierError): boolean {
  return (
    code === 'unreachable' ||
    code === 'upload_in_progress' ||
    code === 'offset_conflict' ||
    status >= 500 ||
    status === 408 ||
    status === 425 ||
    status === 429
  );
}

/** A signal that aborts with `signal`, when `end` is called, or if `interrupt` is not called for `silentMs`. */
export function watchForSilence(
  patience: Partial<Patience> | undefined,
  signal: AbortSignal | undefined,
  message: string,
) {
  const { silentMs } = patienceOf(patience);
  const controller = new AbortController();
  const onSilence = () => controller.abort(new Error(message));
  let timer = setTimeout(onSilence, silentMs);
  return {
    signal: signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    interrupt() {
      clearTimeout(timer);
      timer = setTimeout(onSilence, silentMs);
    },
    end() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

/** Rejects with the signal's reason. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
