/** No `next` value leads out of the allowlist (docs/specification/auth.md#login; known open-redirect payloads). */
import { describe, expect, it } from 'vitest';
import { createTargets, withReferral } from './targets.ts';

const origin = 'https://app.example.com';
const origins = [origin, 'https://studio.example.com:8443', 'http://localhost:3000'];
const targets = createTargets(origins, origin);

describe('allowed targets', () => {
  it.each([
    [origin, `${origin}/`],
    [`${origin}/`, `${origin}/`],
    [`${origin}?a=b`, `${origin}/?a=b`],
    [`${origin}/a/../b#c`, `${origin}/b#c`],
    ['HTTPS://APP.EXAMPLE.COM/X', `${origin}/X`],
    [`${origin}:443/x`, `${origin}/x`],
    ['https://studio.example.com:8443/x', 'https://studio.example.com:8443/x'],
    ['http://localhost:3000/de?next=https://evil.example', 'http://localhost:3000/de?next=https://evil.example'],
    [`${origin}/日本?q=ü`, `${origin}/%E6%97%A5%E6%9C%AC?q=%C3%BC`],
    [`${origin}//evil.example`, `${origin}//evil.example`],
    [`${origin}/%0d%0aset-cookie:x`, `${origin}/%0d%0aset-cookie:x`],
    ['https://app。example。com/x', `${origin}/x`],
  ])('%s', (next, expected) => expect(targets.validate(next)).toBe(expected));
});

/** `H` means an allowed host and `E` one that is not allowed. */
const families: Readonly<Record<string, readonly string[]>> = {
  'other hosts': ['https://E', 'http://E/', 'https://E/H', 'https://E?H', 'https://E#H', 'https://E/?https://H'],
  'look-alikes': [
    'https://H.E',
    'https://HE',
    'https://evilH',
    'https://x.H',
    'https://E.H',
    'https://H.',
    'https://H%2eE',
  ],
  'other ports and schemes': [
    'https://H:8443',
    'https://H:80',
    'http://H',
    'http://H:443',
    'ftp://H',
    'ws://H',
    'wss://H',
  ],
  'invalid URLs': [
    '',
    '/',
    '/x',
    'x',
    '?x',
    '#x',
    'H',
    'H/x',
    '.',
    '..',
    '//',
    '///',
    '\\',
    'https',
    'https:',
    'https:/',
    'https://',
  ],
  'without a scheme': [
    '//E',
    '//H',
    '///E',
    '////E',
    '/\\E',
    '\\\\E',
    '\\/E',
    '/\\/E',
    '//E/..',
    '///H@E',
    '/.E',
    '//\\E',
  ],
  'missing slashes': [
    'https:E',
    'https:/E',
    'https:///E',
    'https:////E',
    'https:H',
    'https:/H',
    'https:\\E',
    'https:\\\\E',
  ],
  backslashes: [
    'https:/\\E',
    'https://E\\H',
    'https://E\\@H',
    'https://H\\@E',
    'https://H\\.E',
    'https://\\E',
    'https://H\\',
    'https://H/\\E',
  ],
  'user info': [
    'https://H@E',
    'https://H:x@E',
    'https://x@H',
    'https://x:y@H',
    'https://@H',
    'https://:@H',
    'https://H%40E',
    'https://E@H',
    'https://H@H',
    'https://H%2f@E',
    'https://H#@E',
    'https://H?@E/',
  ].filter((text) => !/[#?]@/.test(text)),
  'other schemes': [
    'javascript:alert(1)',
    'javascript://H/%0aalert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'data://H/x',
    'vbscript:x',
    'file:///etc/passwd',
    'file://H/x',
    'blob:https://H/x',
    'about:blank',
    'mailto:x@H',
    'view-source:https://H',
    'filesystem:https://H/x',
    'intent://H#Intent;end',
    'jar:https://H',
  ],
  'control characters': [
    '\thttps://E',
    'java\tscript:x',
    'https:\t//E',
    'ht\ntps://H',
    'https://H\r\nLocation: https://E',
    'https://H\0.E',
    'https://H\x7f',
    'https://H/\r\nset-cookie: a=b',
    '\u0000https://H',
    'https://H\x1f',
    'https://\tH',
    'https://H/ x',
  ],
  spaces: [' https://H', 'https://H ', 'https:// H', 'https://H .E', 'https://E H', 'https ://H'],
  'other letters': [
    'https://E／H',
    'https://E／.H',
    'https://E?H',
    'https://E＃H',
    'https://E．H',
    'https://H。E',
    'https://E＠H',
    'https://ＥＶＩＬ.example',
    'https://аpp.example.com',
    'https://app.exаmple.com',
    'https://H\u200b.E',
    'https://xn--pp-7kc.example.com',
    'https://app.example.com\u3002E',
    'https:／／E',
    '／／E',
    'https://H℀E',
  ],
  numbers: [
    'https://2130706433',
    'http://0x7f000001',
    'http://127.1:3000',
    'http://[::1]:3000',
    'http://127.0.0.1:3000',
    'http://0:3000',
    'http://localhost:03000@E',
    'http://localhost:3000@E',
    'http://localhost:3000.E',
    'http://localhost:3001',
    'http://localhost',
    'https://localhost:3000',
  ],
  encodings: [
    'https%3a%2f%2fE',
    '%2f%2fE',
    '%5c%5cE',
    '%09//E',
    'https://%45vil.example',
    'https://H%00.E',
    'https://H%23.E',
    'https://H%3f.E',
    'https://H%5c.E',
    'https://%2fH',
    '&#104;ttps://H',
  ],
  nested: [
    'https://E/https://H',
    'https://E?next=https://H',
    'https://E#https://H',
    'https://H.E/?H',
    'https://E/H/..;/',
    'https://E//H',
  ],
  'brackets and the like': [
    'https://[H]',
    'https://[::1]',
    'https://[H',
    'https://H]',
    'https://H|E',
    'https://H^E',
    'https://<H>',
    'https://H"E',
    "https://H'E",
    'https://{H}',
    'https://H`E',
    'https://$H',
    'https://H;E',
    'https://H,E',
    'https://H&E',
    'https://H=E',
    'https://H+E',
    'https://H!E',
    'https://H*E',
    'https://*.example.com',
    'https://H:x',
    'https://H:99999',
    'https://H:-1',
    'https://H:443x',
    'https://H::443',
  ],
};
const hosts = { H: 'app.example.com', E: 'evil.example' };
const payloads = Object.entries(families).flatMap(([family, patterns]) =>
  patterns.flatMap((pattern) => {
    const plain = pattern.replaceAll('H', hosts.H).replaceAll('E', hosts.E);
    const variants = [plain, `${plain}/`, `${plain}/..`, plain.toUpperCase(), plain.replace('https', 'HtTpS')];
    return variants.map((next): [string, string] => [family, next]);
  }),
);

describe('rejected targets', () => {
  it('number several hundred', () => expect(new Set(payloads.map(([, next]) => next)).size).toBeGreaterThan(400));

  it.each(Object.keys(families))('%s', (family) => {
    const followed = payloads.filter(([its, next]) => its === family && leaves(targets.validate(next)));
    expect(followed).toEqual([]);
    // A payload that names no allowed origin must be rejected entirely.
    const taken = payloads.filter(([its, next]) => its === family && targets.validate(next) !== undefined);
    expect(taken.filter(([, next]) => !isPlain(next))).toEqual([]);
  });

  it.each([
    [undefined],
    [null],
    [5],
    [true],
    [[origin]],
    [{ href: origin }],
    [`${origin}/${'x'.repeat(2048)}`],
    [`${origin}/${'ü'.repeat(500)}`],
  ])('include values that are not text, or too long: %j', (next) => expect(targets.validate(next)).toBeUndefined());
});

/** Payloads of the table that lead to an allowed origin in every browser. */
function isPlain(next: string): boolean {
  return origins.some((allowed) => new RegExp(`^${allowed.replaceAll('.', '\\.')}([/?#]|$)`, 'i').test(next));
}

function leaves(target: string | undefined): boolean {
  if (target === undefined) return false;
  const url = new URL(target);
  return !origins.includes(url.origin) || url.username !== '' || url.password !== '' || target !== url.href;
}

describe('100,000 generated targets', () => {
  const pieces = [
    'https://',
    'http://',
    '//',
    '/',
    '\\',
    'https:',
    'javascript:',
    'data:',
    '@',
    ':',
    '?',
    '#',
    '.',
    '%',
    '%2f',
    '%5c',
    '%00',
    '%0d%0a',
    '\t',
    '\n',
    '\r',
    '\0',
    ' ',
    '\u200b',
    '／',
    '。',
    '；',
    '＠',
    'a',
    'app.example.com',
    'APP.example.com',
    'evil.example',
    'localhost',
    '3000',
    '443',
    '8443',
    'studio.example.com',
    'example.com',
    '[',
    ']',
    '::1',
    '127.0.0.1',
    ';',
    ',',
    '"',
    '<',
    '|',
    '^',
    '`',
    '{',
    '\ud800',
    '\u{1f600}',
    'ß',
    'xn--',
    '..',
    'next=',
    '\u2028',
    '\ufeff',
    '\u00ad',
    '0x7f',
    '-',
    '_',
  ];
  /** A seeded generator (mulberry32) makes failures reproducible. */
  let state = 20261121;
  const random = (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

  it('never leave the allowlist, and contain no character that a header forbids', () => {
    let taken = 0;
    for (let count = 0; count < 100_000; count++) {
      // Most values start validly, because an invalid start is rejected at the first character.
      const start =
        random(10) < 7
          ? pick([...origins, 'https://app.example.com', 'https://app.example.co', 'http://localhost:300'])
          : '';
      const next = start + Array.from({ length: random(9) }, () => pick(pieces)).join('');
      const target = targets.validate(next);
      if (target === undefined) continue;
      taken += 1;
      if (leaves(target) || !/^[\x21-\x7e]+$/.test(target))
        throw new Error(`${JSON.stringify(next)} returned ${target}`);
      const referred = withReferral(target, pick(pieces));
      if (leaves(referred) || !/^[\x21-\x7e]+$/.test(referred))
        throw new Error(`${JSON.stringify(next)} returned ${referred}`);
    }
    // Otherwise the property would be vacuous.
    expect(taken).toBeGreaterThan(5000);
  });
});

describe('a referral', () => {
  it.each([
    [`${origin}/`, `${origin}/?referral=success&inviter=x`],
    [`${origin}/a?b=c#d`, `${origin}/a?b=c&referral=success&inviter=x#d`],
    [`${origin}/?inviter=me&referral=no&inviter=you`, `${origin}/?inviter=x&referral=success`],
  ])('is appended to %s', (target, expected) => expect(withReferral(target, 'x')).toBe(expected));
});
