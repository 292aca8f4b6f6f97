import { describe, expect, it } from 'vitest';
import type { VariantSpec } from '#image/engine/specs.ts';
import { faultOf } from '../../test/edge/faults.fixture.ts';
import { resizeSigner } from './api.ts';
import { parseResizePath, restorePath } from './resizing.ts';

const source = { bucket: 'objects', key: 'u/1/feed/2/3.png' };
const plain = 'plain/s3://objects/u/1/feed/2/3.png';
const parse = (options: string, rest = `${plain}@webp`) => parseResizePath(`/${options}/${rest}`);

describe('options', () => {
  it.each<[string, VariantSpec]>([
    ['rs:fill:10:20:1', { resizingType: 'fill', width: 10, height: 20, enlarge: true }],
    ['resize:fit:10:20:0:0', { resizingType: 'fit', width: 10, height: 20, enlarge: false }],
    ['rs:auto', { resizingType: 'auto' }],
    ['rs::5', { width: 5 }],
    ['rs:fit::7', { resizingType: 'fit', height: 7 }],
    ['w:16383/h:0', { width: 16383, height: 0 }],
    ['width:1/height:2', { width: 1, height: 2 }],
    ['w:1/w:2', { width: 2 }],
    ['rs:fit:1:1/w:3', { resizingType: 'fit', width: 3, height: 1 }],
    ['q:1', { quality: 1 }],
    ['quality:100', { quality: 100 }],
    ['q:0', {}],
    ['el:t', { enlarge: true }],
    ['enlarge:False', { enlarge: false }],
    ['mb:1', { maxBytes: 1 }],
    ['max_bytes:0', { maxBytes: 0 }],
    ['bl:0.5', { blur: 0.5 }],
    ['blur:100', { blur: 100 }],
    ['ra:nearest', { resampling: 'nearest' }],
    ['resizing_algorithm:lanczos2', { resampling: 'lanczos2' }],
    ['g:ce', {}],
    ['gravity:ce:0:0', {}],
  ])('%s', (written, expected) => {
    expect(parse(written)).toMatchObject({ source, spec: { ...expected, format: 'webp' } });
  });

  it.each([
    ['rs:crop:1:1', 'options.rs'],
    ['rs:fit:-1:1', 'options.rs'],
    ['rs:fit:16384:1', 'options.rs'],
    ['rs:fit:1:1:0:2', 'options.rs'],
    ['resize:fit:1:1:0:0:ce:0:0:0', 'options.resize'],
    ['w:', 'options.w'],
    ['w:1.5', 'options.w'],
    ['w:1:2', 'options.w'],
    ['height:16384', 'options.height'],
    ['q:101', 'options.q'],
    ['q:x', 'options.q'],
    ['el:2', 'options.el'],
    ['mb:-1', 'options.mb'],
    ['bl:100.1', 'options.bl'],
    ['bl:NaN', 'options.bl'],
    ['f:gif', 'options.f'],
    ['f:constructor', 'options.f'],
    ['ra:lanczos4', 'options.ra'],
    ['ra:', 'options.ra'],
    ['g:obj', 'options.g'],
    ['dpr:0', 'options.dpr'],
    ['__proto__:1', 'options.__proto__'],
    [':1', 'options.'],
  ])('%s is refused by name', (written, at) => {
    expect(faultOf(() => parse(written))).toBe(at);
  });
});

describe('formats', () => {
  it.each<[string, string, VariantSpec['format']]>([
    ['w:1', `${plain}@webp`, 'webp'],
    ['w:1', `${plain}@jpg`, 'jpg'],
    ['w:1', `${plain}@jpeg`, 'jpeg'],
    ['w:1', `${plain}@png`, 'png'],
    ['w:1', `${plain}@avif`, 'avif'],
    ['w:1', plain, undefined],
    ['w:1', `${plain}@`, undefined],
    ['f:png', plain, 'png'],
    ['format:jpeg', plain, 'jpeg'],
    ['f:png', `${plain}@jpg`, 'jpg'],
  ])('%s with %s', (options, rest, format) => {
    expect(parse(options, rest).spec.format).toBe(format);
  });

  it.each([
    [`${plain}@gif`, 'extension'],
    [`${plain}@jpg@png`, 'source'],
    ['czM6Ly9h.jpg.png', 'source'],
  ])('%s is refused', (rest, at) => {
    expect(faultOf(() => parse('w:1', rest))).toBe(at);
  });
});

describe('sources', () => {
  const encoded = Buffer.from('s3://objects/u/1/feed/2/3.png').toString('base64url');

  it.each([
    plain,
    'plain/s3:%2F%2Fobjects%2Fu/1/feed/2/3%2Epng',
    encoded,
    `${encoded}==`,
    `${encoded}.webp`,
    `${encoded.slice(0, 7)}/${encoded.slice(7, 20)}/${encoded.slice(20)}.webp`,
  ])('%s', (rest) => {
    expect(parse('w:1', rest).source).toEqual(source);
  });

  it('need no options before them', () => {
    expect(parseResizePath(`/${plain}@png`)).toEqual({ source, spec: { format: 'png' }, edits: {}, delivery: {} });
  });

  it.each([
    'plain/http://objects/a.png',
    'plain/s3://objects',
    'plain/s3://objects/',
    'plain/s3:///a.png',
    'plain/%zz',
    'plain/',
    'plain',
    '',
    'a*b',
    Buffer.from('local:///etc/passwd').toString('base64url'),
  ])('%s is refused', (rest) => {
    expect(faultOf(() => parse('w:1', rest))).toBe('source');
  });

  it.each([
    'a/b c.png',
    'a/b@2x.png',
    'a/b?c=d#e.png',
    'a/50%.png',
    'a/b%20c.png',
    'a/b:c.png',
    'a/ü.png',
    'a/plain/b.png',
  ])('the key %s comes out of its address as it went in', (key) => {
    const address = resizeSigner({ baseUrl: '', key: '00', salt: '00' })(
      { bucket: 'objects', key },
      { width: 1 },
      'png',
    );
    const path = address.slice(address.indexOf('/', 1));
    expect(parseResizePath(restorePath(path)).source).toEqual({ bucket: 'objects', key });
  });
});

describe('a path that a proxy changed', () => {
  it.each([
    ['/rs%3Afit%3a1:1/plain/s3:/objects/a%3Ab.png@webp', '/rs:fit:1:1/plain/s3://objects/a%3Ab.png@webp'],
    ['/rs:fit/plain/s3://objects/a.png', '/rs:fit/plain/s3://objects/a.png'],
    ['/rs%3Afit/czM6Ly9h.webp', '/rs:fit/czM6Ly9h.webp'],
    ['/plain/s3:/objects/plain/s3:/a.png', '/plain/s3://objects/plain/s3:/a.png'],
  ])('%s is restored', (changed, written) => {
    expect(restorePath(changed)).toBe(written);
  });
});
