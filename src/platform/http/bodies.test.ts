import { expect, it } from 'vitest';
import { isDeeperThan } from './bodies.ts';

/** A seeded generator makes failures reproducible. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
}

const texts = ['', '[', '{"a":[', '\\', '\\"', '"]}', 'ü€😀', '\u0000\n', '\\u005b'];

function makeValue(next: (below: number) => number, levels: number): unknown {
  const kind = levels === 0 ? next(3) : next(5);
  if (kind === 0) return texts[next(texts.length)];
  if (kind === 1) return next(1000);
  if (kind === 2) return null;
  const members = Array.from({ length: next(4) }, () => makeValue(next, levels - 1));
  if (kind === 3) return members;
  return Object.fromEntries(members.map((member, index) => [`${texts[next(texts.length)]}${index}`, member]));
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

it('counts the levels of JSON exactly', () => {
  const next = random(7);
  for (let round = 0; round < 5000; round += 1) {
    const value = makeValue(next, next(9));
    const depth = depthOf(value);
    const body = Buffer.from(JSON.stringify(value, null, next(3)));
    expect([body.toString(), isDeeperThan(depth, body)]).toEqual([body.toString(), false]);
    if (depth > 0) expect([body.toString(), isDeeperThan(depth - 1, body)]).toEqual([body.toString(), true]);
  }
});

it('terminates for input that is not JSON', () => {
  for (const text of ['"', '"\\', '[', ']]]]', '}{', '"[', '\\"[[', '[[[', ''])
    expect(typeof isDeeperThan(2, Buffer.from(text))).toBe('boolean');
});
