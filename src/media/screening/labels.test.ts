import { describe, expect, it } from 'vitest';
import { hitsOf, parseRules, toStored } from './labels.ts';

describe('MEDIA_SCREENING_RULES', () => {
  it('is a list of rules', () => {
    const rule = { label: 'nudity', minScore: 0, action: 'block' };
    expect(parseRules(JSON.stringify([rule]))).toEqual([rule]);
    expect(parseRules('[]')).toEqual([]);
  });

  it.each([
    ['no JSON', '[', /must be a JSON array/],
    ['no list', '{}', /must be a JSON array/],
    ['an unknown action', '[{"label":"a","minScore":1,"action":"delete"}]', /0\.action/],
    ['a score above 1', '[{"label":"a","minScore":1.1,"action":"flag"}]', /0\.minScore/],
    ['no label', '[{"minScore":1,"action":"flag"}]', /0\.label/],
    ['an unknown field', '[{"label":"a","minScore":1,"action":"flag","min":1}]', /min/],
  ])('cannot be %s', (_title, raw, message) => {
    expect(() => parseRules(raw)).toThrow(message);
  });
});

describe('rules', () => {
  const rules = [
    { label: 'a', minScore: 0.5, action: 'flag' },
    { label: 'a', minScore: 0.9, action: 'block' },
    { label: 'b', minScore: 0.2, action: 'restrict' },
    { label: 'c', minScore: 0, action: 'flag' },
  ] as const;

  it.each([
    [[], []],
    [[['a', 0.49]], []],
    [[['a', 0.5]], ['flag a']],
    [[['a', 0.9]], ['block a']],
    [[['A', 1]], []],
    [
      [
        ['a', 0.1],
        ['a', 0.95],
      ],
      ['block a'],
    ],
    [
      [
        ['c', 1],
        ['a', 0.6],
        ['b', 0.3],
      ],
      ['restrict b', 'flag c', 'flag a'],
    ],
  ] as const)('about %j are %j', (labels, expected) => {
    const hits = hitsOf(
      rules,
      labels.map(([name, score]) => ({ name, score })),
    );
    expect(hits.map(({ action, label }) => `${action} ${label}`)).toEqual(expected);
  });
});

it('stores each label once, and the 100 with the highest scores', () => {
  const many = Array.from({ length: 150 }, (_none, place) => ({ name: `l${place}`, score: place / 150 }));
  const stored = toStored([...many, { name: 'l149', score: 0.1 }]);
  expect([stored.length, stored[0]?.name, stored.at(-1)?.name]).toEqual([100, 'l149', 'l50']);
});
