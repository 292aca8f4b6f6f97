import { describe, expect, it } from 'vitest';
import { hashContent } from './hashing.ts';

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
