/** Walks the files of a bucket in key order (bytes of UTF-8, as S3 lists), one folder's names in memory per level. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from './folders.ts';
import { isSafeKey } from './keys.ts';

/** `top`: the bucket's folder; `folder`: relative to it, empty or ending in `/`; `start`: how names in it start. */
export async function* walk(
  top: string,
  folder: string,
  start: string,
): AsyncGenerator<{ readonly key: string; readonly stat: Awaited<ReturnType<typeof statFile>> }> {
  const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(ignore('ENOENT', 'ENOTDIR'));
  const wanted = (entries ?? [])
    .filter((entry) => entry.name.startsWith(start) && (entry.isFile() || entry.isDirectory()))
    // `a.jpg` comes before `a/b`, as `.` comes before `/`.
    .map((entry) => (entry.isDirectory() ? `${folder}${entry.name}/` : `${folder}${entry.name}`))
    .map((path) => ({ path, bytes: Buffer.from(path) }))
    .sort((left, right) => Buffer.compare(left.bytes, right.bytes));
  for (const { path } of wanted) {
    if (path.endsWith('/')) {
      yield* walk(top, path, '');
    } else if (isSafeKey(path)) {
      const stat = await statFile(join(top, path)).catch(ignore('ENOENT', 'ENOTDIR'));
      if (stat?.isFile()) yield { key: path, stat };
    }
  }
}

function statFile(path: string) {
  return lstat(path, { bigint: true });
}
