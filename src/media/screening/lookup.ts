/** Finds a digest among a million, exactly or by Hamming distance. Works on bytes and stores no strings. */

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

export interface Nearest {
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
