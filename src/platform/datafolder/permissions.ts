/** Permissions of the data folder: only its owner has access, with modes 0700 and 0600 (docs/security.md). */
import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { codeOf } from '../objects/files/folders.ts';
import { waitAtMost } from '../resilience.ts';

/** Applies to everything that the process and its children create. */
export const privateUmask = 0o077;

const othersBits = 0o077;
/** Marks a folder that accounts share on purpose, such as `/tmp`. */
const stickyBit = 0o1000;
/** Entries between two turns of the event loop: some milliseconds. */
const turnAfter = 1000;
/** Maximum time that a start waits for the contents of the folder. */
const longestWaitMs = 2000;

/**
 * Removes the permissions of group and others. The folder itself changes at once. Its contents change before this resolves, or
 * in the background if there are very many. Logs a warning about files that it cannot change (another owner, or a file system
 * without modes). Does not follow symbolic links below the folder.
 */
export async function tightenFolder(dataDir: string, log: Pick<Log, 'warn' | 'info'>): Promise<void> {
  let seen = 0;
  let changed = 0;
  let failed = 0;
  let first: { readonly path: string; readonly code: string | undefined } | undefined;

  function attempt<Result>(path: string, work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      const code = codeOf(error);
      // The file was removed in the meantime.
      if (code === 'ENOENT') return undefined;
      failed += 1;
      first ??= { path, code };
      return undefined;
    }
  }

  function tighten(path: string, mode: number): void {
    attempt(path, () => {
      chmodSync(path, mode & 0o7700);
      changed += 1;
    });
  }

  /**
   * Changes a folder after its contents, so a private folder is always complete and later starts can skip it. Synchronous calls take
   * a tenth of the time of calls in the thread pool.
   */
  async function visit(folder: string): Promise<void> {
    for (const name of attempt(folder, () => readdirSync(folder)) ?? []) {
      if (++seen % turnAfter === 0) await nextTurn();
      const path = join(folder, name);
      const found = attempt(path, () => lstatSync(path));
      if (found === undefined || (found.mode & othersBits) === 0) continue;
      if (found.isDirectory()) await visit(path);
      if (found.isDirectory() || found.isFile()) tighten(path, found.mode);
    }
  }

  async function visitAll(): Promise<void> {
    await visit(dataDir);
    if (changed > 0) log.info({ changed }, 'removed the permissions of other accounts from the data folder');
    if (failed > 0) log.warn({ failed, first }, 'other accounts may still have permissions in the data folder');
  }

  const top = attempt(dataDir, () => statSync(dataDir));
  if (top === undefined) return;
  if ((top.mode & stickyBit) !== 0) {
    log.warn({ dataDir }, 'ATELIER_DATA_DIR is a folder that several accounts share; its permissions are not changed');
    return;
  }
  if ((top.mode & othersBits) !== 0) tighten(dataDir, top.mode);
  await waitAtMost(longestWaitMs, visitAll());
}
