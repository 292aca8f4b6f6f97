/** Syncs of a log file in a thread, one for all callers that wait (group commit). */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const syncInThread = promisify(fdatasync);

export class LogSync {
  /** A descriptor of our own: PostgreSQL closes its one while a thread may still sync. */
  #file: { readonly path: string; readonly descriptor: number } | undefined;
  #requests = 0;
  #synced = 0;
  #running: Promise<void> | undefined;
  #failure: unknown;

  get isPending(): boolean {
    return this.#synced < this.#requests;
  }

  /** Requests a sync of the file. A sync of an earlier file is finished first. */
  defer(path: string): void {
    if (this.#file?.path !== path) {
      this.close();
      this.#file = { path, descriptor: openSync(path, 'r') };
    }
    this.#requests += 1;
  }

  /** Syncs at once, and blocks until the disk has everything. Throws the error of the operating system. */
  finish(): void {
    if (!this.isPending || this.#file === undefined) return;
    if (this.#failure !== undefined) throw this.#failure;
    try {
      fdatasyncSync(this.#file.descriptor);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    this.#synced = this.#requests;
  }

  /**
   * Resolves when everything requested so far is on the disk. Rejects after the first failure for good: the operating
   * system may have dropped the pages that it could not write, and would report success the next time.
   */
  async synced(): Promise<void> {
    const target = this.#requests;
    while (this.#synced < target) {
      if (this.#failure !== undefined) throw this.#failure;
      this.#running ??= this.#run();
      await this.#running;
    }
  }

  /** After a failure, nothing is synced: what was requested since then was never acknowledged. */
  close(): void {
    const file = this.#file;
    if (file === undefined) return;
    if (this.#failure === undefined) this.finish();
    this.#file = undefined;
    void Promise.resolve(this.#running).then(() => closeSync(file.descriptor));
  }

  async #run(): Promise<void> {
    const target = this.#requests;
    try {
      if (this.#file !== undefined) await syncInThread(this.#file.descriptor);
      this.#synced = Math.max(this.#synced, target);
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#running = undefined;
    }
  }
}
