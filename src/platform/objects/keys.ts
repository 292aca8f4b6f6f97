/** Safe keys of objects: one rule for the file system, S3 and the addresses that name a key. */

/** Most keys: in ASCII, without a segment that begins with a dot. They need no further test. */
const plainKey = /^[\w~-][\w.~-]{0,254}(?:\/[\w~-][\w.~-]{0,254})*$/;

/**
 * A safe key is a relative path of at most 1024 bytes. It has no empty, `.` or `..` segment, no segment of more than 255
 * bytes, no control character and no backslash.
 */
export function isSafeKey(key: string): boolean {
  if (key.length <= 1024 && plainKey.test(key)) return true;
  if (key === '' || Buffer.byteLength(key) > 1024) return false;
  if (/[\p{Cc}\\\uFFFE\uFFFF]/u.test(key) || !key.isWellFormed()) return false;
  return key
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..' && Buffer.byteLength(segment) <= 255);
}

export function assertSafeKey(key: string): void {
  if (!isSafeKey(key)) throw new Error('unsafe object key');
}

/** A prefix is the beginning of a safe key: whole segments, and possibly a part of one. Empty: every key. */
export function assertSafePrefix(prefix: string): void {
  if (prefix !== '' && !isSafeKey(prefix) && !isSafeKey(`${prefix}x`)) throw new Error('unsafe object key prefix');
}

/** A caller may name a bucket by one segment of a path (docs/specification/media.md#fields). */
export function isBucketName(name: string): boolean {
  return /^[A-Za-z0-9._-]{1,255}$/.test(name) && name !== '.' && name !== '..';
}
