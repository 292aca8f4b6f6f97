/**
 * Room on the disk of the embedded engines. They stop writing before the disk is full, because PostgreSQL cannot go on
 * without space for its log, and because a deletion, which makes room, also writes. Objects stop earlier than rows.
 */
import { statfsSync } from 'node:fs';
import { type Problem, problems } from './problem.ts';

const MiB = 1024 ** 2;

interface Reserve {
  readonly mostBytes: number;
  /** Of the whole disk, for small ones. */
  readonly share: number;
}

/** Two segments of the log. */
export const reserveForRows: Reserve = { mostBytes: 32 * MiB, share: 1 / 8 };
export const reserveForObjects: Reserve = { mostBytes: 64 * MiB, share: 1 / 4 };

/** The answer is reused for this long, because it is asked for each statement and chunk. */
const lookEveryMs = 100;

/** Returns a function that throws `storage_full` while the disk of `folder` has no more than the reserve. */
export function createSpaceCheck(folder: string, reserve: Reserve): () => void {
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let isFull = false;
  return () => {
    const now = performance.now();
    if (now - lookedAtMs > lookEveryMs) {
      isFull = hasNoRoom(folder, reserve);
      lookedAtMs = now;
    }
    if (isFull) throw problems.storage_full({ cause: new Error(`the disk of ${folder} is full`) });
  };
}

export function hasNoRoom(folder: string, { mostBytes, share }: Reserve): boolean {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return bavail * bsize <= Math.min(mostBytes, blocks * bsize * share);
  } catch {
    // The folder does not exist yet, or its file system does not report its space. The write itself decides.
    return false;
  }
}

/** `undefined`: the error has another reason. */
export function asStorageFull(error: unknown): Problem | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' ? problems.storage_full({ cause: error }) : undefined;
}
