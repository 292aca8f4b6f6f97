/** Time limits. Both abort a signal, so that what runs late also stops. */

export class DeadlineExceeded extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = 'DeadlineExceeded';
  }
}

/**
 * Rejects with DeadlineExceeded when `work` takes longer than `timeoutMs`, also when it does not heed its signal; with
 * the reason of `outer` as soon as that is aborted.
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
  /** Something moved, or a pause is over: the time starts anew. */
  touch(): void;
  /** Stops the clock until the next `touch`: for a wait that is not the other side's fault. */
  pause(): void;
  /** Settles as `work` does, or rejects when the time is up. */
  race<T>(work: Promise<T>): Promise<T>;
  /** To be called in any case: it ends the timer for good. */
  stop(): void;
}

/** For work that may take long as long as it moves, such as an upload. */
export function startIdleDeadline(timeoutMs: number, outer?: AbortSignal): IdleDeadline {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Nobody may be racing when it is up.
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
