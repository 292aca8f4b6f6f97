/**
 * The files of MEDIA_BLOCKED_HASHES, with one hex digest per line. Only the screening thread reads them. Every call
 * gets the current content of the file.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** An unusable list. The message names the file and never a digest. */
export class ListUnusable extends Error {
  override readonly name = 'ListUnusable';
}

/** About four million PDQ hashes. */
const maxListBytes = 256 * 1024 * 1024;
/** A file that was changed this shortly before it was read may change again without a later time stamp. */
const settlingMs = 100;
const readTries = 3;

/**
 * Returns the result of `build` for the file `name`, rebuilt when the file has changed. Without a folder, or without
 * the file, the result has no digests. Throws ListUnusable if there is no such folder, or if the file cannot be read,
 * is too large, keeps changing, or has an invalid line, because its intended content is unknown.
 */
export function openList<List>(
  folder: string | undefined,
  name: string,
  digestBytes: number,
  build: (digests: Uint8Array) => List,
): () => List {
  const path = join(folder ?? '', name);
  let current: { readonly stamp: string; readonly list: List; readonly isSettled: boolean } | undefined;

  function load(): List {
    for (let tries = 1; tries <= readTries; tries++) {
      const before = stampOf(path);
      if (current?.isSettled && current.stamp === before.stamp) return current.list;
      const digests = before.isThere ? parseDigests(readWhole(path), digestBytes, name) : new Uint8Array();
      if (stampOf(path).stamp !== before.stamp) continue;
      current = { stamp: before.stamp, list: build(digests), isSettled: Date.now() - before.changedAtMs > settlingMs };
      return current.list;
    }
    throw new ListUnusable(`${name} keeps changing`);
  }

  if (folder === undefined) {
    const empty = build(new Uint8Array());
    return () => empty;
  }
  return () => {
    try {
      if (!statSync(folder).isDirectory()) throw new ListUnusable(`${folder} is not a folder`);
      return load();
    } catch (error) {
      current = undefined;
      if (error instanceof ListUnusable) throw error;
      throw new ListUnusable(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
    }
  };
}

function stampOf(path: string) {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return { isThere: false, stamp: 'absent', changedAtMs: 0 };
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  // The modification time can be set at will, but not the time of the last change.
  const changedAtMs = Number(ctimeNs / 1_000_000n);
  return { isThere: true, stamp: [dev, ino, size, mtimeNs, ctimeNs].join(' '), changedAtMs };
}

function readWhole(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new ListUnusable(`${path} is not a file`);
    if (stats.size > maxListBytes) throw new ListUnusable(`${path} is larger than ${maxListBytes} bytes`);
    const bytes = Buffer.allocUnsafe(stats.size);
    let length = 0;
    for (let read = -1; length < bytes.length && read !== 0; length += read)
      read = readSync(file, bytes, length, bytes.length - length, length);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

const [tab, newLine, carriageReturn, space, hash] = [9, 10, 13, 32, 35];
const isBlank = (byte: number | undefined) => byte === space || byte === tab || byte === carriageReturn;

/**
 * Yields the digests as bytes. Accepts both cases of letters, surrounding spaces, and a byte order mark. Skips empty
 * lines and lines that begin with `#`.
 */
export function parseDigests(bytes: Uint8Array, digestBytes: number, name: string): Uint8Array {
  const digests = new Uint8Array(Math.floor((bytes.length + 1) / (2 * digestBytes + 1)) * digestBytes);
  let length = 0;
  let line = 0;
  for (let start = skipMark(bytes); start < bytes.length; ) {
    const found = bytes.indexOf(newLine, start);
    let [from, end] = [start, found === -1 ? bytes.length : found];
    start = end + 1;
    line += 1;
    while (from < end && isBlank(bytes[from])) from += 1;
    while (end > from && isBlank(bytes[end - 1])) end -= 1;
    if (from === end || bytes[from] === hash) continue;
    if (end - from !== 2 * digestBytes || !decodeHex(bytes, from, digests, length, digestBytes))
      throw new ListUnusable(`line ${line} of ${name} is not a digest of ${2 * digestBytes} hex digits`);
    length += digestBytes;
  }
  return digests.subarray(0, length);
}

function skipMark(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The value of each byte as a hex digit; 255: invalid. */
const digits = new Uint8Array(256).fill(255);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

function decodeHex(from: Uint8Array, start: number, to: Uint8Array, at: number, count: number): boolean {
  let seen = 0;
  for (let index = 0; index < count; index++) {
    const high = digits[from[start + 2 * index] ?? 0] ?? 255;
    const low = digits[from[start + 2 * index + 1] ?? 0] ?? 255;
    seen |= high | low;
    to[at + index] = (high << 4) | low;
  }
  return seen < 16;
}
