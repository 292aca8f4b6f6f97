import { describe, expect, it } from 'vitest';
import { createVariantNames, partsOfVariantKey } from './keys.ts';
import { toTransform, type VariantSpec } from './specs.ts';

const names = createVariantNames('secret');
const key = (spec: VariantSpec, identity = 'source', by = names) =>
  by.key({ identity, group: 'group', store: 'store' }, toTransform(spec));

describe('specs that mean the same are one variant', () => {
  const same: [name: string, one: VariantSpec, other: VariantSpec][] = [
    [
      'absent and default',
      {},
      {
        width: 0,
        height: 0,
        quality: 75,
        format: 'webp',
        resizingType: 'fit',
        enlarge: false,
        blur: null,
        maxBytes: null,
        resampling: 'lanczos3',
      },
    ],
    ['null and absent', {}, { quality: null, format: null, resizingType: null, resampling: null }],
    ['avif and webp', { format: 'avif' }, { format: 'webp' }],
    ['jpg and jpeg', { format: 'jpg' }, { format: 'jpeg' }],
    ['jpeg and its default quality', { format: 'jpeg' }, { format: 'jpeg', quality: 80 }],
    ['avif and the default quality of webp', { format: 'avif' }, { format: 'avif', quality: 75 }],
    ['no blur and none', { blur: 0 }, { blur: null }],
    ['the weakest blurs', { blur: 0.3 }, { blur: 0.001 }],
    ['png of any quality', { format: 'png' }, { format: 'png', quality: 12 }],
    ['png of any budget', { format: 'png' }, { format: 'png', maxBytes: 12 }],
  ];
  it.each(same)('%s', (_name, one, other) => {
    expect(key(one)).toBe(key(other));
  });
});

it('specs that mean different things are different variants', () => {
  const specs: VariantSpec[] = [
    {},
    { width: 100 },
    { height: 100 },
    { width: 100, height: 100 },
    { width: 10, height: 0, quality: 10 },
    { width: 1, height: 0, quality: 100 },
    { quality: 80 },
    { format: 'jpeg' },
    { format: 'jpeg', quality: 75 },
    { format: 'png' },
    { resizingType: 'fill' },
    { resizingType: 'auto' },
    { enlarge: true },
    { blur: 0.3 },
    { blur: 0.31 },
    { maxBytes: 1 },
    { maxBytes: 2 },
    { resampling: 'lanczos2' },
    { resampling: 'cubic' },
    { resampling: 'linear' },
    { resampling: 'nearest' },
  ];
  expect(new Set(specs.map((spec) => key(spec))).size).toBe(specs.length);
});

it('has the documented shape', () => {
  expect(key({})).toMatch(/^img\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}\.webp$/);
  expect(key({ format: 'avif' })).toMatch(/\.webp$/);
  expect(key({ format: 'jpeg' })).toMatch(/\.jpg$/);
  expect(key({ format: 'png' })).toMatch(/\.png$/);
});

it('never changes', () => {
  // A key is a public URL. If this test fails, every stored variant is orphaned.
  expect(key({ width: 400, height: 400, quality: 80 }, '["object","objects","u/a.jpg"]')).toBe(
    'img/ac/7c/ac7c1fb9cc04b3e177c1703ef1f82b599310d115da74b5f3c7105ba7b27207fe.webp',
  );
});

it('is the same for cached and uncached sources', () => {
  expect(key({ width: 5 })).toBe(key({ width: 5 }));
  expect(key({ width: 5 }, 'source', createVariantNames('secret'))).toBe(key({ width: 5 }));
});

it('depends on the source and the secret', () => {
  const keys = [key({}), key({}, 'another'), key({}, 'source', createVariantNames('another'))];
  expect(new Set(keys).size).toBe(3);
});

it('has the same prefix for all variants of one source, and for no other', () => {
  const prefix = names.prefix({ identity: 'source', group: 'group', store: 'store' });
  for (const spec of [{}, { width: 5 }, { format: 'png' }] as const) expect(key(spec).startsWith(prefix)).toBe(true);
  expect(key({}, 'another').startsWith(prefix)).toBe(false);
});

it('shows its prefix and the mark of the store of its source', () => {
  for (const store of ['one store', 'another store']) {
    const source = { identity: `source in ${store}`, group: 'group', store };
    const parts = partsOfVariantKey(names.key(source, toTransform({ format: 'png' })));
    expect(parts).toEqual({ prefix: names.prefix(source), mark: names.mark(source.store) });
  }
  expect(names.mark('one store')).not.toBe(names.mark('another store'));
  expect(names.mark('one store')).not.toBe(createVariantNames('another').mark('one store'));
});

it.each([
  'u/a.jpg',
  'img/ac/7c/readme.txt',
  `img/ac/7c/${'a'.repeat(64)}.webp`,
  `img/aa/aa/${'a'.repeat(63)}.webp`,
  `img/aa/aa/${'a'.repeat(64)}`,
  `img/aa/aa/b/${'a'.repeat(64)}.webp`,
])('%s is no variant’s', (foreign) => {
  expect(partsOfVariantKey(foreign)).toBeUndefined();
});
