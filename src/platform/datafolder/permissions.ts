/** Permissions of the data folder: it belongs to its owner alone, 0700 and 0600 (docs/security.md). */
import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import { ignore } from '../objects/folders.ts';

/** For everything that a process and its children create. */
export const privateUmask = 0o077;

const othersBits = 0o077;
/** Of a folder that accounts share on purpose, such as `/tmp`. */
const stickyBit = 0o1000;

export interface Tightening {
  /** Resolves when everything below the folder has been visited. Never rejects. */
  readonly done: Promise<void>;
  /** Resolves when nothing is changed any more. */
  stop(): Promise<void>;
}

/**
 * Removes the permissions of group and others: from the folder itself before this resolves, from its contents in the
 * background. Logs a warning about files that it cannot change (another owner, a file system without modes). Follows no
 * symbolic link below the folder.
 */
export async function tightenFolder(dataDir: string, log: Pick<Log, 'warn' | 'info'>): Promise<Tightening> {
  let changed = 0;
  let failed = 0;
  let first: { readonly path: string; readonly code: string | undefined } | undefined;
  let isStopped = false;

  async function tighten(path: string, mode: number): Promise<void> {
    try {
      await chmod(path, mode & 0o7700);
      changed += 1;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      failed += 1;
      first ??= { path, code };
    }
  }

  /** Changes a folder after its contents: one that is private already is complete, and later starts skip it. */
  async function goThrough(folder: string): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      if (isStopped) return;
      const path = join(folder, name);
      const found = await lstat(path).catch(ignore('ENOENT'));
      if (found === undefined || (found.mode & othersBits) === 0) continue;
      if (found.isDirectory()) await goThrough(path);
      if (!isStopped && (found.isDirectory() || found.isFile())) await tighten(path, found.mode);
    }
  }

  async function tightenAll(): Promise<void> {
    await goThrough(dataDir);
    if (changed > 0) log.info({ changed }, 'removed the permissions of other accounts from the data folder');
    if (failed > 0) log.warn({ failed, first }, 'other accounts keep permissions in the data folder: chmod failed');
  }

  const top = await stat(dataDir).catch(ignore('ENOENT'));
  if (top === undefined) return { done: Promise.resolve(), stop: async () => undefined };
  if ((top.mode & stickyBit) !== 0) {
    log.warn({ dataDir }, 'ATELIER_DATA_DIR is a folder that accounts share; its permissions are left alone');
    return { done: Promise.resolve(), stop: async () => undefined };
  }
  if ((top.mode & othersBits) !== 0) await tighten(dataDir, top.mode);
  const done = tightenAll().catch((error: unknown) => {
    log.warn({ err: error }, 'the permissions of the data folder cannot be read');
  });
  return {
    done,
    stop: () => {
      isStopped = true;
      return done;
    },
  };
}
