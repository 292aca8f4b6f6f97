import { describe, expect, it } from 'vitest';
import { hashContent, readMonths } from './text.ts';

describe('contents that are the same', () => {
  it.each([
    ['I like tea.', 'i  like\ttea'],
    ['I like tea . . !', 'I LIKE TEA'],
    ['ＡＢＣ。', 'abc'],
  ])('%j and %j', (left, right) => {
    expect(hashContent(left)).toEqual(hashContent(right));
  });

  it.each([
    ['I like tea', 'I like tea?'],
    ['...', '!!!'],
  ])('not %j and %j', (left, right) => {
    expect(hashContent(left)).not.toEqual(hashContent(right));
  });

  it('needs linear time for a million punctuation marks', () => {
    const marks = '.'.repeat(1_000_000);
    expect(hashContent(`a${marks}b${marks}`)).toEqual(hashContent(`a${marks}b`));
  });
});

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
