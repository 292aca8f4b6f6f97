/** Periodic background work within one process. */

export interface Interval {
  /** Starts no further call, aborts the signal of a call under way, and resolves when that has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `work` every `intervalMs`. A call that is still running is not overlapped: the next one waits for the following
 * tick. Work of several steps looks at its signal between them. Errors go to `onError` and do not end the interval. The timer
 * does not keep the process alive.
 */
export function startInterval(
  intervalMs: number,
  work: (stopped: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Interval {
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  const timer = setInterval(() => {
    running ??= work(stopping.signal)
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, intervalMs).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
