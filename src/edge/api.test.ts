import { describe, expect, it } from 'vitest';
import { pathSigner, type ResizeOptions, resizeSigner } from './api.ts';

// The key and salt of imgproxy's published examples.
const key = '943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881';
const salt = '520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5';
const source = { bucket: 'objects', key: 'u/1/feed/2/3.png' };

describe('the signature of a path', () => {
  const hexOf = (text: string) => Buffer.from(text).toString('hex');

  it.each([
    [
      'its documentation',
      hexOf('secret'),
      hexOf('hello'),
      '/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png',
      'oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8',
    ],
    [
      'its code examples',
      key,
      salt,
      '/fill/300/300/no/1/aHR0cDovL2ltZy5leGFtcGxlLmNvbS9wcmV0dHkvaW1hZ2UuanBn.png',
      '_PQ4ytCQMMp-1w1m_vP6g8Qb-Q7yF9mwghf6PddqxLw',
    ],
    ['its tests', hexOf('test-key'), hexOf('test-salt'), '/asd', 'oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20'],
  ])('is the one that imgproxy publishes in %s', (_place, keyHex, saltHex, path, signature) => {
    expect(pathSigner(keyHex, saltHex)(path)).toBe(signature);
  });
});

describe('a resize address', () => {
  const address = resizeSigner({ baseUrl: 'https://edge.example', key, salt });
  const pathOf = (options: ResizeOptions, format: 'webp' | 'jpeg' | 'png' = 'webp', from = source) =>
    address(from, options, format).replace(/^https:\/\/edge\.example\/[\w-]{43}/, '');

  it('signs everything after the signature', () => {
    const path = pathOf({ width: 400, height: 400, quality: 80 });
    expect(address(source, { width: 400, height: 400, quality: 80 }, 'webp')).toBe(
      `https://edge.example/${pathSigner(key, salt)(path)}${path}`,
    );
  });

  it.each<[string, ResizeOptions, 'webp' | 'jpeg' | 'png', string]>([
    ['a box', { width: 400, height: 400, quality: 80 }, 'webp', 'rs:fit:400:400:0/q:80'],
    ['nothing at all', {}, 'jpeg', 'rs:fit:0:0:0/q:80'],
    ['the default quality of webp', { width: 10 }, 'webp', 'rs:fit:10:0:0/q:75'],
    ['no quality for png', { height: 10, quality: 50 }, 'png', 'rs:fit:0:10:0'],
    [
      'every option',
      {
        resizingType: 'fill',
        width: 1,
        height: 2,
        quality: 3,
        enlarge: true,
        maxBytes: 4,
        blur: 0.5,
        algorithm: 'cubic',
      },
      'jpeg',
      'rs:fill:1:2:1/q:3/mb:4/bl:0.5/ra:cubic',
    ],
  ])('writes %s', (_name, options, format, written) => {
    expect(pathOf(options, format)).toBe(`/${written}/plain/s3://objects/u/1/feed/2/3.png@${format}`);
  });

  it('is the same for each spelling of a transform’s defaults', () => {
    const explicit: ResizeOptions = {
      algorithm: 'lanczos3',
      blur: 0,
      maxBytes: 0,
      enlarge: false,
      quality: 75,
      height: 0,
      width: 0,
      resizingType: 'fit',
    };
    expect(address(source, explicit, 'webp')).toBe(address(source, {}, 'webp'));
  });

  it('depends on its own source, options and format after calls with others', () => {
    const [options, others] = [{ width: 1 }, { width: 2 }];
    const elsewhere = { ...source, key: 'b' };
    expect(pathOf(options, 'webp', source)).toBe('/rs:fit:1:0:0/q:75/plain/s3://objects/u/1/feed/2/3.png@webp');
    expect(pathOf(options, 'png', source)).toBe('/rs:fit:1:0:0/plain/s3://objects/u/1/feed/2/3.png@png');
    expect(pathOf(others, 'png', source)).toBe('/rs:fit:2:0:0/plain/s3://objects/u/1/feed/2/3.png@png');
    expect(pathOf(options, 'webp', elsewhere)).toBe('/rs:fit:1:0:0/q:75/plain/s3://objects/b@webp');
    expect(pathOf(options, 'webp', source)).toBe('/rs:fit:1:0:0/q:75/plain/s3://objects/u/1/feed/2/3.png@webp');
  });

  it.each([
    ['a/b c.png', 'a/b%20c.png'],
    ['a/b@2x.png', 'a/b%402x.png'],
    ['a/b?c=d#e.png', 'a/b%3Fc%3Dd%23e.png'],
    ['a/50%.png', 'a/50%25.png'],
    ['a/b:c.png', 'a/b%3Ac.png'],
    ['a/ü.png', 'a/%C3%BC.png'],
    ['a/plain/b.png', 'a/plain/b.png'],
  ])('escapes the key %s', (raw, escaped) => {
    expect(pathOf({}, 'webp', { bucket: 'objects', key: raw })).toBe(
      `/rs:fit:0:0:0/q:75/plain/s3://objects/${escaped}@webp`,
    );
  });
});
