/** Copies files between folders, computes their digests and makes the copies readable by their owner only. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { headOf } from '#platform/objects/files/folders.ts';

const filesAtOnce = 8;

/** Copies in progress end before a failure is thrown, so that nothing is written after it. */
export async function copyEach<File, Result>(
  files: readonly File[],
  copyOne: (file: File) => Promise<Result>,
): Promise<Result[]> {
  const faults: unknown[] = [];
  const copied = await mapConcurrently(files, filesAtOnce, async (file) => {
    if (faults.length > 0) return [];
    return copyOne(file).then(
      (result) => [result],
      (error: unknown) => {
        faults.push(error);
        return [];
      },
    );
  });
  if (faults.length > 0) throw faults[0];
  return copied.flat();
}

export interface Copied {
  readonly size: number;
  readonly sha256: string;
  readonly modifiedAtMs: number;
  /** The object ETag of the source. */
  readonly etag: string;
  /** The object ETag of the copy. */
  readonly newEtag: string;
}

/** Gives the copy the modification time of the source, or `modifiedAtMs`. Throws if `to` exists. */
export async function copyFile(from: string, to: string, modifiedAtMs?: number): Promise<Copied> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const before = headOf(await source.stat({ bigint: true }));
    const target = await open(to, 'wx', 0o600);
    try {
      const digest = createHash('sha256');
      let size = 0;
      for await (const chunk of source.createReadStream({ autoClose: false })) {
        digest.update(chunk);
        size += chunk.length;
        await target.writeFile(chunk);
      }
      const age = modifiedAtMs ?? before.modifiedAt.getTime();
      await target.utimes(age / 1000, age / 1000);
      await target.sync();
      const after = headOf(await target.stat({ bigint: true }));
      return { size, sha256: digest.digest('hex'), modifiedAtMs: age, etag: before.etag, newEtag: after.etag };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
