import { expect, it } from 'vitest';
import { hasFormula, withDollars } from './formulas.ts';

it.each([
  ['a \\(x^2\\) b', 'a $$x^2$$ b'],
  ['\\[x^2\\]', '$$\nx^2\n$$'],
  ['\\[\nx^2\n\\]', '$$\nx^2\n$$'],
  ['$$\\int x$$', '$$\n\\int x\n$$'],
  ['`\\(x\\)` and \\(y\\)', '`\\(x\\)` and $$y$$'],
  ['```\n\\[x\\]\n```', '```\n\\[x\\]\n```'],
  ['It costs $5, not $10.', 'It costs $5, not $10.'],
])('%j becomes %j', (text, expected) => {
  expect(withDollars(text)).toBe(expected);
});

it('prices are no formulas', () => {
  expect(hasFormula('It costs $5, not $10.')).toBe(false);
});
