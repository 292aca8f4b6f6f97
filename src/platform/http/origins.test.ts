import { describe, expect, it } from 'vitest';
import { matchOrigins, parseOriginPattern } from './cors.ts';

describe('a listed origin', () => {
  const allowed = matchOrigins(['https://app.example.com', 'http://localhost:3000', 'https://Shop.Example.org:8443/']);
  it.each([
    ['https://app.example.com', true],
    ['http://localhost:3000', true],
    ['https://shop.example.org:8443', true],
    ['http://app.example.com', false],
    ['https://app.example.com:444', false],
    ['https://app.example.com.evil.net', false],
    ['https://evil.net/https://app.example.com', false],
    ['https://sub.app.example.com', false],
    ['http://localhost:3001', false],
    ['http://localhost', false],
    ['http://127.0.0.1:3000', false],
    ['null', false],
    ['', false],
    [undefined, false],
  ])('%s: %s', (origin, expected) => expect(allowed(origin)).toBe(expected));
});

describe('all subdomains of a domain', () => {
  const allowed = matchOrigins(['https://*.example.com', 'http://*.dev.example.net:8080']);
  it.each([
    ['https://a.example.com', true],
    ['https://a.b.example.com', true],
    ['https://a-1.example.com', true],
    ['http://x.dev.example.net:8080', true],
    ['https://example.com', false],
    ['https://.example.com', false],
    ['https://a..example.com', false],
    ['https://evilexample.com', false],
    ['https://evil.com?.example.com', false],
    ['https://evil.com#.example.com', false],
    ['https://evil.com/.example.com', false],
    ['https://evil.com\\.example.com', false],
    ['https://evil.com:443.example.com', false],
    ['https://user@a.example.com', false],
    ['https://a.example.com:8443', false],
    ['https://a.example.com.evil.com', false],
    ['http://a.example.com', false],
    ['https://*.example.com', false],
    ['https://a\n.example.com', false],
    ['http://x.dev.example.net', false],
    ['null', false],
  ])('%s: %s', (origin, expected) => expect(allowed(origin)).toBe(expected));
});

describe('an origin in the settings', () => {
  it.each([
    ['https://app.example.com/', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['HTTP://LOCALHOST:3000', 'http://localhost:3000'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['https://*.Example.com', 'https://*.example.com'],
    ['https://*.example.com:443', 'https://*.example.com'],
    ['http://*.example.com:80', 'http://*.example.com'],
    ['https://*.example.com:80', 'https://*.example.com:80'],
  ])('%s is %s', (raw, expected) => expect(parseOriginPattern(raw)).toBe(expected));

  it.each([
    '*',
    'https://*',
    'https://*.com',
    'https://*example.com',
    'https://a.*.example.com',
    'https://*.*.example.com',
    'https://a*.example.com',
    '*.example.com',
    'https://example.com:*',
    'https://example.com/path',
    'https://example.com?x',
    'https://user@example.com',
    'example.com',
    'ftp://example.com',
    'https://',
    'null',
    '',
  ])('rejects %s', (raw) => expect(() => parseOriginPattern(raw)).toThrow(/^must /));
});

describe('random origins', () => {
  it('match a wildcard only if a browser would treat them as a page below the domain', () => {
    const allowed = matchOrigins(['https://*.example.com']);
    const parts = [
      'https://',
      'http://',
      'a',
      'evil',
      '.',
      '.example.com',
      'example.com',
      '@',
      ':443',
      '/',
      '?',
      '#',
      '\\',
      '%2e',
      ' ',
      '*',
    ];
    let state = 7;
    const pick = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return parts[state % parts.length] ?? '';
    };
    for (let round = 0; round < 20_000; round += 1) {
      const origin = `https://${Array.from({ length: 1 + (round % 6) }, pick).join('')}`;
      if (!allowed(origin)) continue;
      const url = new URL(origin);
      expect([origin, url.origin]).toEqual([origin, origin]);
      expect(url.hostname).toMatch(/^.+\.example\.com$/);
    }
  });
});
