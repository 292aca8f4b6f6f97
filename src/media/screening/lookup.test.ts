import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createExactLookup, createNearestLookup } from './listfiles.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest();

describe('an exact look-up', () => {
  it.each([0, 1, 2, 3, 1000])('among %i digests finds those, and no others', (count) => {
    const listed = Array.from({ length: count }, (_, at) => sha256(`listed ${at}`));
    const isListed = createExactLookup(Buffer.concat(listed), 32);
    expect(listed.every(isListed)).toBe(true);
    expect(Array.from({ length: 1000 }, (_, at) => sha256(`other ${at}`)).some(isListed)).toBe(false);
  });

  it('distinguishes digests with the same prefix, and finds a duplicate', () => {
    const one = Buffer.alloc(16, 7);
    const other = Buffer.from(one);
    other[15] = 8;
    const isListed = createExactLookup(Buffer.concat([one, one, one]), 16);
    expect([isListed(one), isListed(other)]).toEqual([true, false]);
  });
});

describe('a look-up of the nearest', () => {
  /** Flips the first `count` of the bits, in an order that covers the whole hash. */
  function turn(hash: Buffer, count: number): Buffer {
    const turned = Buffer.from(hash);
    for (let at = 0; at < count; at++) {
      const bit = (at * 37) % 256;
      turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    }
    return turned;
  }
  const noise = Array.from({ length: 2000 }, () => randomBytes(32));
  const hash = randomBytes(32);

  it.each([0, 1, 16, 31])('finds a hash at a distance of %i', (distance) => {
    const entry = turn(hash, distance);
    const nearest = createNearestLookup(Buffer.concat([...noise, entry, ...noise]), 31);
    const found = nearest(hash);
    expect([found?.distance, Buffer.from(found?.digest ?? []).equals(entry)]).toEqual([distance, true]);
  });

  it.each([32, 33, 128])('does not find one at a distance of %i', (distance) => {
    expect(createNearestLookup(Buffer.concat([...noise, turn(hash, distance)]), 31)(hash)).toBeUndefined();
  });

  it('finds the nearest of several', () => {
    const nearest = createNearestLookup(Buffer.concat([20, 3, 9].map((distance) => turn(hash, distance))), 31);
    expect(nearest(hash)?.distance).toBe(3);
  });

  it('finds no match in an empty list', () => {
    expect(createNearestLookup(new Uint8Array(), 31)(hash)).toBeUndefined();
  });
});
