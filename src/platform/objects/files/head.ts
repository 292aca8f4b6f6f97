/** An object's metadata, read from its file. */
import type { BigIntStats } from 'node:fs';
import type { ObjectHead } from '../objects.ts';

/** Every write makes a new file, so inode, size and time together change with the bytes. */
export function headOf(stat: BigIntStats): ObjectHead {
  const parts = [stat.ino, stat.size, stat.mtimeNs].map((part) => part.toString(36));
  return { size: Number(stat.size), etag: `"${parts.join('-')}"`, modifiedAt: stat.mtime };
}
