import { expect, it } from 'vitest';
import { hasFormula, withDollars } from './markdown.ts';

/** As common renderers read them. */
const prices = [
  'It costs $5, not $10.',
  '$5 and $10',
  'between $5-$10',
  'US$5 or 5$ or US$',
  'a $ x $ b',
  '\\$x\\$',
  'from $5\nto 10$',
];

it.each([
  ['a \\(x^2\\) b', 'a $$x^2$$ b'],
  ['\\[x^2\\]', '$$\nx^2\n$$'],
  ['\\[\nx^2\n\\]', '$$\nx^2\n$$'],
  ['$$\\int x$$', '$$\n\\int x\n$$'],
  ['`\\(x\\)` and \\(y\\)', '`\\(x\\)` and $$y$$'],
  ['```\n\\[x\\]\n```', '```\n\\[x\\]\n```'],
  ['The area is $\\pi r^2$, and $n$-th.', 'The area is $$\\pi r^2$$, and $$n$$-th.'],
  ['`$x$` and $y$', '`$x$` and $$y$$'],
  ['$$f(x)$$ and $5, or $y$', '$$f(x)$$ and $5, or $$y$$'],
  ...prices.map((text) => [text, text]),
])('%j becomes %j', (text, expected) => {
  expect(withDollars(text)).toBe(expected);
});

it.each(prices)('%j has no formula', (text) => {
  expect(hasFormula(text)).toBe(false);
});

it('one dollar on each side is a formula', () => {
  expect(hasFormula('Let $x$ be 2.')).toBe(true);
});
