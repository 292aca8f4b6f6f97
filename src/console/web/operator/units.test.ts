import { expect, it } from 'vitest';
import { moneyOf } from './units.ts';

it.each([
  [0, '$0.00'],
  [0.4, '$0.40'],
  [-0.4, '-$0.40'],
  [0.01, '$0.01'],
  [0.0484, '$0.05'],
  [1234.5, '$1,234.50'],
  [0.0084, '$0.0084'],
  [0.000_123_4, '$0.00012'],
])('shows %d dollars as %s', (usd, text) => {
  expect(moneyOf(usd)).toBe(text);
});

it('shows all decimals of the price of a unit', () => {
  expect([0.075, 1.5, 0.000_35].map((usd) => moneyOf(usd, true))).toEqual(['$0.075', '$1.50', '$0.00035']);
});
