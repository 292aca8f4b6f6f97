/**
 * Walks the files of a bucket in the order of their keys, which is that of their UTF-8 bytes, as in S3. Holds the names of
 * one folder per level in memory.
 */
import { lstat, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSafeKey } from '../keys.ts';
import { ignore } from './folders.ts';

/**
 * `top` is the folder of the bucket. `folder` is relative to it, and is empty or ends in `/`. The walk covers the names in it
 * that begin with `start`, and the keys that follow `after`. Removes empty folders: a process that died before it placed a file leaves
 * them, and their names can contain the id of an owner.
 */
export async function* walk(
  top: string,
  folder: string,
  start: string,
  after?: Buffer,
): AsyncGenerator<{ readonly key: string; readonly stat: Awaited<ReturnType<typeof statFile>> }> {
  const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(ignore('ENOENT', 'ENOTDIR'));
  const wanted = (entries ?? [])
    .filter((entry) => entry.name.startsWith(start) && (entry.isFile() || entry.isDirectory()))
    // `a.jpg` comes before `a/b`, as `.` comes before `/`.
    .map((entry) => (entry.isDirectory() ? `${folder}${entry.name}/` : `${folder}${entry.name}`))
    .map((path) => ({ path, bytes: Buffer.from(path) }))
    .filter(({ path, bytes }) => after === undefined || isBeyond(path, bytes, after))
    .sort((left, right) => Buffer.compare(left.bytes, right.bytes));
  for (const { path } of wanted) {
    if (path.endsWith('/')) {
      yield* walk(top, path, '', after);
    } else if (isSafeKey(path)) {
      const stat = await statFile(join(top, path)).catch(ignore('ENOENT', 'ENOTDIR'));
      if (stat?.isFile()) yield { key: path, stat };
    }
  }
  const isMaybeEmpty = entries?.every((entry) => entry.isDirectory()) === true;
  // The kernel refuses a folder that is not empty.
  if (folder !== '' && isMaybeEmpty) await rmdir(join(top, folder)).catch(() => undefined);
}

/** Of a folder: whether any key in it can be. */
function isBeyond(path: string, bytes: Buffer, after: Buffer): boolean {
  if (Buffer.compare(bytes, after) > 0) return true;
  return path.endsWith('/') && bytes.equals(after.subarray(0, bytes.length));
}

function statFile(path: string) {
  return lstat(path, { bigint: true });
}
