import { describe, expect, it } from 'vitest';
import { rateLimitOf, readConfig } from '#app/config.ts';

describe('RATE_LIMIT_PER_MINUTE', () => {
  const limitOf = (environment: Record<string, string>) =>
    rateLimitOf(readConfig({ ATELIER_DATA_DIR: '/nowhere', ...environment }, [], { keepSecrets: false }));

  it.each([
    [{}, 0],
    [{ NODE_ENV: 'production' }, 1200],
    [{ NODE_ENV: 'production', RATE_LIMIT_PER_MINUTE: '' }, 1200],
    [{ NODE_ENV: 'production', RATE_LIMIT_PER_MINUTE: '0' }, 0],
    [{ NODE_ENV: 'production', RATE_LIMIT_PER_MINUTE: '60' }, 60],
    [{ RATE_LIMIT_PER_MINUTE: '60' }, 60],
  ])('%j: %d', (environment: Record<string, string>, expected) => {
    expect(limitOf(environment)).toBe(expected);
  });

  it('is rejected if it is not a number', () => {
    expect(() => limitOf({ RATE_LIMIT_PER_MINUTE: 'many' })).toThrow('RATE_LIMIT_PER_MINUTE must be a whole number');
  });
});
