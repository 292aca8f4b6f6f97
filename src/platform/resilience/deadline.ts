/** Time limits. Both abort a signal, so that late work also stops. */

export class DeadlineExceeded extends Error {
  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs} ms`);
    this.name = 'DeadlineExceeded';
  }
}

/**
 * Rejects with DeadlineExceeded if `work` takes longer than `timeoutMs`, even if it ignores its signal. Rejects with the reason of
 * `outer` as soon as that aborts.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const deadline = startIdleDeadline(timeoutMs, outer);
  try {
    return await deadline.race(work(deadline.signal));
  } finally {
    deadline.stop();
  }
}

export interface IdleDeadline {
  readonly signal: AbortSignal;
  /** Restarts the time limit: there was progress, or a pause is over. */
  touch(): void;
  /** Stops the clock until the next `touch`, for a delay that the other side does not cause. */
  pause(): void;
  /** Settles as `work` does, or rejects when the time limit is reached. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Always call this. It clears the timer. */
  stop(): void;
}

/** For work that may take any time as long as it makes progress, such as an upload. */
export function startIdleDeadline(timeoutMs: number, outer?: AbortSignal): IdleDeadline {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // If no race is pending, the rejection would be unhandled.
  ended.catch(() => undefined);
  const end = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const passOn = () => end(outer?.reason);
  const start = () => setTimeout(() => end(new DeadlineExceeded(timeoutMs)), timeoutMs);
  let timer = start();
  let state: 'running' | 'paused' | 'stopped' = 'running';
  outer?.addEventListener('abort', passOn, { once: true });
  if (outer?.aborted) passOn();
  return {
    signal: controller.signal,
    touch: () => {
      if (state === 'running') timer.refresh();
      if (state === 'paused') {
        timer = start();
        state = 'running';
      }
    },
    pause: () => {
      clearTimeout(timer);
      if (state === 'running') state = 'paused';
    },
    race: (work) => Promise.race([work, ended]),
    stop: () => {
      clearTimeout(timer);
      state = 'stopped';
      outer?.removeEventListener('abort', passOn);
    },
  };
}
