import { describe, expect, test } from 'vitest';
import { isSafeKey } from './objects.ts';

describe('a key', () => {
  test.each([
    'a',
    'u/1/feed/2/3.png',
    'a.b/c..d/e.',
    '~/-/_',
    '.a/..b/...',
    'ä b/日本',
    'a'.repeat(255),
    `${'a/'.repeat(511)}aa`,
    'ä'.repeat(127),
  ])('is safe: %s', (key) => {
    expect(isSafeKey(key)).toBe(true);
  });

  test.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/.',
    '../a',
    'a/../b',
    'a\\b',
    'a\nb',
    'a\n',
    'a\0',
    '\ud800',
    '\ufffe',
    'a'.repeat(256),
    `b/${'a'.repeat(256)}`,
    `${'a/'.repeat(512)}a`,
    'ä'.repeat(128),
  ])('is not safe: %j', (key) => {
    expect(isSafeKey(key)).toBe(false);
  });
});
