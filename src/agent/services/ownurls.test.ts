import { describe, expect, it } from 'vitest';
import { createOwnUrls } from './library.ts';

const assetId = '0b8a5f0e-4f3a-4c1e-9a53-7a8c1d2e3f40';
const key = `u/11111111-2222-4333-8444-555555555555/thread/t-1/${assetId}.png`;
const assetOfUrl = createOwnUrls(['https://edge.app.example', 'http://127.0.0.1:9000', 'embedded']);

describe('a URL of ours', () => {
  it.each([
    ['of the edge', `https://edge.app.example/o/objects/${key}?expires=1&signature=x`],
    ['of the object store, path-style', `http://127.0.0.1:9000/objects/${key}?X-Amz-Signature=x`],
    ['of a bucket as a subdomain', `https://objects.edge.app.example/${key}`],
    ['of a thumbnail', `https://edge.app.example/c2ln/rs:fit:400:400:0/q:80/plain/s3://objects/${key}@webp`],
    ['with an encoded path', `https://edge.app.example/o/objects/${encodeURIComponent(key)}`],
  ])('%s names its asset', (_title, url) => {
    expect(assetOfUrl(url)).toBe(assetId);
  });

  it.each([
    ['of another host', `https://elsewhere.example/o/objects/${key}`],
    ['whose host ends alike', `https://evil-edge.app.example/o/objects/${key}`],
    ['without a storage key', 'https://edge.app.example/health'],
    ['that is none', 'not a URL'],
    ['with broken escapes', 'https://edge.app.example/%E0%A4%A'],
    ['that is longer than any of ours', `https://edge.app.example/${'a'.repeat(10_000)}/${key}`],
    ['of data', `data:text/plain;base64,${key}`],
  ])('%s contains no asset id', (_title, url) => {
    expect(assetOfUrl(url)).toBeUndefined();
  });
});
