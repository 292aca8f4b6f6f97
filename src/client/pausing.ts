/** When to try again, and when to give up. */
import { type AtelierError, toldOf } from './errors.ts';

export interface Patience {
  /**
   * So often in a row nothing gets through, then it is given up: 4 for a call, 12 for the stream of a run. Counted, not
   * timed: a closed laptop loses no time.
   */
  readonly tries: number;
  /** Before the second try; doubled from there on. A service that names a longer one (`Retry-After`) gets it. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Nothing came for so long: the connection is dead. A stream says something every 15 s. */
  readonly silentMs: number;
}

const defaults: Patience = { tries: 12, firstPauseMs: 200, longestPauseMs: 5000, silentMs: 40_000 };

export const patienceOf = (patience: Partial<Patience> = {}): Patience => ({ ...defaults, ...patience });

export interface Pauses {
  /** Something got through: what was failed before is forgotten. */
  reset(): void;
  /** Waits before the next try. Throws `reason`, as an `AtelierError`, when there is to be none. */
  pause(reason: unknown): Promise<void>;
}

/** `timeoutMs`: a pause that would end later is not begun. */
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
      const told = toldOf(reason);
      failures += 1;
      if (!isPassing(told) || failures >= tries) throw told;
      const doubledMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      // Half of it by chance: those who were cut off together need not come back together.
      const pauseMs = Math.max(told.retryAfterMs ?? 0, doubledMs * (0.5 + Math.random() / 2));
      if (performance.now() - startedMs + pauseMs > timeoutMs) throw told;
      await sleep(pauseMs, signal);
    },
  };
}

/** Not reached, draining, overloaded, a proxy without a server behind it, an upload that broke off and has not ended there. */
function isPassing({ code, status }: AtelierError): boolean {
  return (
    code === 'unreachable' ||
    code === 'upload_in_progress' ||
    status >= 500 ||
    status === 408 ||
    status === 425 ||
    status === 429
  );
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
