/** Periodic background work within one process. */

export interface Interval {
  /** Starts no further call and resolves when a call under way has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `work` every `intervalMs`. A call that is still running is not overlapped: the next one waits for the following
 * tick. Errors go to `onError` and do not end the interval. The timer does not keep the process alive.
 */
export function startInterval(
  intervalMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Interval {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, intervalMs).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
