import { expect, it } from 'vitest';
import { readMonths } from './months.ts';

const may = Date.UTC(2025, 4, 31);

it.each([
  'in May',
  'in May 2025',
  'im Mai 2025',
  'en mayo de 2025',
  'en mai 2025',
  'a maggio',
  'em maio',
  'в мае 2025 года',
  'pada bulan Mei',
  '2025年5月',
  '2025년 5월',
  'in April or May',
])('reads the month of %s', (text) => {
  expect(readMonths(`what was ${text}?`)?.(may)).toBe(true);
});

it.each(['in May 2024', 'in June', '2025年12月'])('knows that %s is another month', (text) => {
  expect(readMonths(`what was ${text}?`)?.(may)).toBe(false);
});

it.each(['we may march', 'what was in 2025?', 'the 5 of them', 'mayonnaise'])('reads no month in %s', (text) => {
  expect(readMonths(text)).toBeUndefined();
});
