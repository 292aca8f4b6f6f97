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

// Finds a digest among a million, exactly or by Hamming distance. Works on bytes and stores no strings.

/** Returns whether a digest is among the concatenated `digests`. */
export function createExactLookup(digests: Uint8Array, digestBytes: number): (digest: Uint8Array) => boolean {
  const count = digests.length / digestBytes;
  // Open addressing, at most half full. Digests are evenly distributed, so their first bytes serve as the hash.
  const size = 2 ** Math.ceil(Math.log2(2 * count + 2));
  const places = new Int32Array(size).fill(-1);
  const hash = (bytes: Uint8Array, at: number) =>
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) &
    (size - 1);
  const isAt = (index: number, digest: Uint8Array) =>
    digest.every((byte, at) => byte === digests[index * digestBytes + at]);
  for (let index = 0; index < count; index++) {
    let place = hash(digests, index * digestBytes);
    while (places[place] !== -1) place = (place + 1) & (size - 1);
    places[place] = index;
  }
  return (digest) => {
    for (let place = hash(digest, 0); places[place] !== -1; place = (place + 1) & (size - 1))
      if (isAt(places[place] ?? 0, digest)) return true;
    return false;
  };
}

interface Nearest {
  /** The digest that was found. */
  readonly digest: Uint8Array;
  /** Bits. */
  readonly distance: number;
}

const words = 8;
const bytesPerWord = 4;

/**
 * Returns the nearest of 256-bit hashes (Hamming), if its distance is at most `maxDistance`. A plain scan: a million
 * take about 20 ms, because two of the eight words exclude most of them.
 */
export function createNearestLookup(
  digests: Uint8Array,
  maxDistance: number,
): (hash: Uint8Array) => Nearest | undefined {
  const listed = toWords(digests);
  return (hash) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = toWords(hash);
    let nearest: Nearest | undefined;
    let bound = maxDistance + 1;
    for (let at = 0; at < listed.length; at += words) {
      let distance = bitsOf((listed[at] ?? 0) ^ a) + bitsOf((listed[at + 1] ?? 0) ^ b);
      if (distance >= bound) continue;
      distance += bitsOf((listed[at + 2] ?? 0) ^ c) + bitsOf((listed[at + 3] ?? 0) ^ d);
      if (distance >= bound) continue;
      distance += bitsOf((listed[at + 4] ?? 0) ^ e) + bitsOf((listed[at + 5] ?? 0) ^ f);
      distance += bitsOf((listed[at + 6] ?? 0) ^ g) + bitsOf((listed[at + 7] ?? 0) ^ h);
      if (distance >= bound) continue;
      bound = distance;
      nearest = { digest: new Uint8Array(listed.buffer, at * bytesPerWord, words * bytesPerWord), distance };
    }
    return nearest;
  };
}

/** Words of 32 bits. Any byte order works, as long as it is the same. */
function toWords(bytes: Uint8Array): Int32Array {
  // A copy, which is aligned to words; `slice` of a Buffer copies nothing.
  return new Int32Array(new Uint8Array(bytes).buffer);
}

/** Counts the set bits of 32: sums pairs, nibbles and bytes at once. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
