import { describe, expect, test } from 'vitest';
import { createSigner, emptyPayloadHash, encodePath, encodeQuery, type SignableRequest, sha256Hex } from './sigv4.ts';

/** The examples that AWS publishes: "Authenticating requests: using the Authorization header", "using query parameters". */
const signer = createSigner({
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
});
const nowMs = Date.UTC(2013, 4, 24);
const host = 'examplebucket.s3.amazonaws.com';

describe('the published examples', () => {
  test.each<{ what: string; request: SignableRequest; body: string; names: string; signature: string }>([
    {
      what: 'GET with a range',
      request: { method: 'GET', path: '/test.txt', query: {}, headers: { host, range: 'bytes=0-9' } },
      body: '',
      names: 'host;range;x-amz-content-sha256;x-amz-date',
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    {
      what: 'PUT of a key with a dollar sign',
      request: {
        method: 'PUT',
        path: encodePath('/test$file.text'),
        query: {},
        headers: { host, date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      },
      body: 'Welcome to Amazon S3.',
      names: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    },
    {
      what: 'GET of the bucket’s lifecycle, a parameter without a value',
      request: { method: 'GET', path: '/', query: { lifecycle: '' }, headers: { host } },
      body: '',
      names: 'host;x-amz-content-sha256;x-amz-date',
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    },
    {
      what: 'a listing',
      request: { method: 'GET', path: '/', query: { prefix: 'J', 'max-keys': '2' }, headers: { host } },
      body: '',
      names: 'host;x-amz-content-sha256;x-amz-date',
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  ])('$what', ({ request, body, names, signature }) => {
    const headers = signer.signHeaders(request, sha256Hex(body), nowMs);
    expect(headers['x-amz-date']).toBe('20130524T000000Z');
    expect(headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    );
  });

  test('a presigned address', () => {
    const query = signer.presign({ method: 'GET', path: '/test.txt', query: {}, headers: { host } }, 86_400, nowMs);
    expect(query).toBe(
      'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    );
  });
});

test('the empty payload’s hash is the well-known one', () => {
  expect(emptyPayloadHash).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

describe('the cached signing context', () => {
  const request = { method: 'GET', path: '/test.txt', query: {}, headers: { host } };

  test('follows the second and the day, also backwards', () => {
    const fresh = (atMs: number) =>
      createSigner({ accessKeyId: 'a', secretAccessKey: 'b', region: 'r' }).presign(request, 60, atMs);
    const kept = createSigner({ accessKeyId: 'a', secretAccessKey: 'b', region: 'r' });
    const times = [0, 400, 1000, 86_399_999, 86_400_000, 86_399_000, 0];
    for (const offset of times) expect(kept.presign(request, 60, nowMs + offset)).toBe(fresh(nowMs + offset));
    expect(new Set(times.map((offset) => fresh(nowMs + offset))).size).toBe(4);
  });
});

describe('encoding', () => {
  test.each([
    ['u/a/b-c_d.e~f.jpg', 'u/a/b-c_d.e~f.jpg'],
    ['a b/c+d', 'a%20b/c%2Bd'],
    ["!'()*", '%21%27%28%29%2A'],
    ['ä/日本/😀', '%C3%A4/%E6%97%A5%E6%9C%AC/%F0%9F%98%80'],
    ['100%/a%2Fb', '100%25/a%252Fb'],
    ['a?b#c&d=e:@$,;', 'a%3Fb%23c%26d%3De%3A%40%24%2C%3B'],
  ])('of the path %s', (path, encoded) => {
    expect(encodePath(path)).toBe(encoded);
  });

  test('of a query: by name, independent of the values', () => {
    expect(encodeQuery({ b: '2', 'a-b': '/', a: ' ', X: "it's" })).toBe('X=it%27s&a=%20&a-b=%2F&b=2');
  });
});
