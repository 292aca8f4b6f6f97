/**
 * Process shutdown (docs/specification/system.md#startup-and-shutdown): SIGTERM and SIGINT drain the process. A second signal more than
 * one second later ends it at once.
 */

/**
 * Resolves when the process should end. If its launcher was killed, the process ends immediately, because a restart would find the
 * data folder in use.
 */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      if (first === undefined) {
        first = performance.now();
        resolve(signal);
        // A terminal sends Ctrl-C to both the launcher and this process, so a duplicate within a second is ignored.
      } else if (performance.now() - first > 1000) process.exit(1);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
    process.on('SIGHUP', onSignal);
    if (process.channel) {
      process.channel.unref();
      process.on('disconnect', () => process.exit(1));
    }
  });
}

/** Resources to close, last opened first. Each one is tried, and the first error is thrown at the end. */
export class Closers {
  readonly #closers: { readonly name: string; readonly close: () => Promise<void> }[] = [];

  add(name: string, close: () => Promise<void>): void {
    this.#closers.push({ name, close });
  }

  async closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const { name, close } of this.#closers.splice(0).reverse()) {
      await close().catch((error: unknown) => errors.push(new Error(`${name} did not close`, { cause: error })));
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** A failed start: one readable line that names the setting, without a stack (docs/specification/system.md#startup-and-shutdown). */
export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}
