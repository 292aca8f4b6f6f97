import { describe, expect, test } from 'vitest';
import { deriveAddressKey, signAddress, type Terms, verifyAddress } from './addresses.ts';

const secret = deriveAddressKey('0a'.repeat(32), '0b'.repeat(32));
const expires = 1_800_000_000;
const read: Terms = { method: 'GET', bucket: 'objects', key: 'u/1/a.jpg', expires, contentType: 'image/jpeg' };
const write: Terms = {
  method: 'PUT',
  bucket: 'objects',
  key: 'u/1/a.jpg',
  expires,
  contentType: 'image/jpeg',
  size: 5,
  maxSize: 9,
};

/** Reads an address as the edge does. */
function verify(address: string, { method = 'GET', nowS = expires - 1, key = secret } = {}) {
  const { pathname, searchParams } = new URL(address);
  const [bucket = '', ...segments] = pathname.slice('/o/'.length).split('/').map(decodeURIComponent);
  const request = { method: method === 'PUT' ? 'PUT' : 'GET', bucket, key: segments.join('/'), query: searchParams };
  return verifyAddress(key, request as Parameters<typeof verifyAddress>[1], nowS);
}

const sign = (terms: Terms) => signAddress('https://edge.example.com', secret, terms);

describe('a URL contains the signed values', () => {
  test.each<[string, Terms]>([
    ['a read', read],
    ['a read without a type', { ...read, contentType: undefined }],
    ['a write', write],
    ['a write of any length', { ...write, size: undefined }],
    ['a write of nothing', { ...write, size: 0 }],
    ['a type with parameters', { ...read, contentType: 'text/plain; charset="utf-8"&x=1' }],
    ['a key that needs encoding', { ...read, key: 'ä b/%2F..%2f/+?#&=/日本/😀' }],
    ['a key with dots', { ...read, key: '.../..a' }],
    ['a bucket that needs encoding', { ...read, bucket: 'a b&c' }],
  ])('%s', (_, terms) => {
    expect(verify(sign(terms), { method: terms.method })).toEqual(terms);
  });

  test('in a form that any URL parser leaves alone', () => {
    const address = sign({ ...read, key: "ä b/%2F/+?#'()*" });
    expect(new URL(address).href).toBe(address);
    expect(address).toMatch(/^https:\/\/edge\.example\.com\/o\/objects\//);
  });
});

describe('the form of a URL', () => {
  test('is that of URLs from earlier versions, which stay valid', () => {
    expect(sign({ ...read, etag: '"1a-2b"', download: 'a b.jpg' })).toBe(
      'https://edge.example.com/o/objects/u/1/a.jpg?expires=1800000000&type=image%2Fjpeg&etag=%221a-2b%22&download=a+b.jpg&signature=_PdXTUhS2uPwKAbdRMQtGAsN4_-2_-RC-I4gtATajYQ',
    );
  });

  test('has the values as URLSearchParams encodes them', () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('');
    for (const download of [ascii, 'ü日\u{1f642}', '\ud800a\udc00', '', '%20+']) {
      const { search } = new URL(sign({ ...read, download }));
      expect(search).toBe(`?${new URLSearchParams([...new URLSearchParams(search)])}`);
      expect(new URLSearchParams(search).get('download')).toBe(download.toWellFormed());
    }
  });
});

describe('expiry', () => {
  test.each([
    [expires - 1, true],
    [expires, false],
    [expires + 1, false],
  ])('at %d', (nowS, isValid) => {
    expect(verify(sign(read), { nowS }) !== undefined).toBe(isValid);
    expect(verify(sign(write), { nowS, method: 'PUT' }) !== undefined).toBe(isValid);
  });
});

describe('tampered with', () => {
  const readAddress = sign(read);
  const writeAddress = sign(write);
  const changed = (address: string, change: (url: URL) => void) => {
    const url = new URL(address);
    change(url);
    return url.href;
  };
  const set = (name: string, value: string) => (url: URL) => url.searchParams.set(name, value);

  test.each<[string, string, (url: URL) => void, string?]>([
    ['the other method', readAddress, () => undefined, 'PUT'],
    ['the other method of a write', writeAddress, () => undefined, 'GET'],
    ['key', readAddress, (url) => Object.assign(url, { pathname: '/o/objects/u/1/b.jpg' })],
    ['key, encoded anew', readAddress, (url) => Object.assign(url, { pathname: '/o/objects/u%2F1/a%252Ejpg' })],
    ['bucket', readAddress, (url) => Object.assign(url, { pathname: '/o/public/u/1/a.jpg' })],
    ['border of bucket and key', readAddress, (url) => Object.assign(url, { pathname: '/o/objects%2Fu/1/a.jpg' })],
    ['later expiry', readAddress, set('expires', String(expires + 1))],
    ['no expiry', readAddress, (url) => url.searchParams.delete('expires')],
    ['an expiry that is no number', readAddress, set('expires', '9e99')],
    ['an endless expiry', readAddress, set('expires', '9'.repeat(400))],
    ['a negative expiry', readAddress, set('expires', '-1')],
    ['two expiries', readAddress, (url) => url.searchParams.append('expires', String(expires + 1))],
    ['type', readAddress, set('type', 'text/html')],
    ['no type', readAddress, (url) => url.searchParams.delete('type')],
    ['two types', readAddress, (url) => url.searchParams.append('type', 'text/html')],
    ['a further parameter', readAddress, set('download', '1')],
    ['a term of writes', readAddress, set('size', '5')],
    ['no signature', readAddress, (url) => url.searchParams.delete('signature')],
    ['an empty signature', readAddress, set('signature', '')],
    ['another signature', readAddress, set('signature', 'A'.repeat(43))],
    [
      'the signature of a write',
      readAddress,
      set('signature', new URL(writeAddress).searchParams.get('signature') ?? ''),
    ],
    ['size', writeAddress, set('size', '6'), 'PUT'],
    ['no size', writeAddress, (url) => url.searchParams.delete('size'), 'PUT'],
    ['a size that is no number', writeAddress, set('size', 'x'), 'PUT'],
    ['greater limit', writeAddress, set('max', '10'), 'PUT'],
    ['no limit', writeAddress, (url) => url.searchParams.delete('max'), 'PUT'],
    ['type of a write', writeAddress, set('type', 'text/html'), 'PUT'],
    ['no type of a write', writeAddress, (url) => url.searchParams.delete('type'), 'PUT'],
    ['a size where none was signed', sign({ ...write, size: undefined }), set('size', '5'), 'PUT'],
    ['a type where none was signed', sign({ ...read, contentType: undefined }), set('type', 'text/html')],
  ])('%s', (_, address, change, method = address === writeAddress ? 'PUT' : 'GET') => {
    expect(verify(changed(address, change), { method })).toBeUndefined();
  });

  test('any single character of the signature', () => {
    const signature = new URL(readAddress).searchParams.get('signature') ?? '';
    for (let at = 0; at < signature.length; at++) {
      for (const other of ['A', 'B', 'z', '0', '-']) {
        if (signature[at] === other) continue;
        const bent = signature.slice(0, at) + other + signature.slice(at + 1);
        expect(verify(changed(readAddress, set('signature', bent)))).toBeUndefined();
      }
    }
  });

  test.each(['=', '!', ' ', 'A'])('the signature with %j behind it', (more) => {
    const signature = new URL(readAddress).searchParams.get('signature') ?? '';
    expect(verify(changed(readAddress, set('signature', signature + more)))).toBeUndefined();
  });

  test('another key pair', () => {
    expect(verify(readAddress, { key: deriveAddressKey('0a'.repeat(32), '0c'.repeat(32)) })).toBeUndefined();
    expect(verify(readAddress, { key: deriveAddressKey('0b'.repeat(32), '0b'.repeat(32)) })).toBeUndefined();
  });
});
