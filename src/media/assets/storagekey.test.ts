import { describe, expect, it } from 'vitest';
import { isSafeKey } from '#platform/objects/objects.ts';
import { extensionOf, storageKeyOf } from './storagekey.ts';

describe('the extension of a mime', () => {
  it.each([
    // docs/specification/media.md#storage-keys, in its order.
    ['image/jpeg', 'jpg'],
    ['image/png', 'png'],
    ['image/webp', 'webp'],
    ['image/gif', 'gif'],
    ['image/avif', 'avif'],
    ['image/heic', 'heic'],
    ['image/svg+xml', 'svg'],
    ['video/mp4', 'mp4'],
    ['video/quicktime', 'mov'],
    ['video/webm', 'webm'],
    ['audio/mpeg', 'mp3'],
    ['audio/mp4', 'm4a'],
    ['audio/wav', 'wav'],
    // Names that clients use and the library does not know.
    ['image/jpg', 'jpg'],
    ['audio/flac', 'flac'],
    ['audio/aac', 'aac'],
    // The library's.
    ['application/pdf', 'pdf'],
    ['text/plain', 'txt'],
    ['video/x-matroska', 'mkv'],
    // No user's.
    ['application/octet-stream', 'bin'],
    ['foo/bar', 'bin'],
    ['constructor/prototype', 'bin'],
  ])('%s: %s', (mime, extension) => {
    expect(extensionOf(mime)).toBe(extension);
  });
});

describe('the storage key', () => {
  it('has the documented shape', () => {
    const key = storageKeyOf({
      ownerId: '0e3b6f8a-0000-4000-8000-000000000001',
      scopeKind: 'thread',
      scopeId: 'T_1-x',
      assetId: '0e3b6f8a-0000-4000-8000-000000000002',
      mime: 'image/jpeg',
    });
    expect(key).toBe('u/0e3b6f8a-0000-4000-8000-000000000001/thread/T_1-x/0e3b6f8a-0000-4000-8000-000000000002.jpg');
  });

  it('is safe with the longest parts', () => {
    const id = '0e3b6f8a-0000-4000-8000-000000000001';
    const key = storageKeyOf({
      ownerId: id,
      scopeKind: 'k'.repeat(64),
      scopeId: 's'.repeat(128),
      assetId: id,
      mime: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    });
    expect(isSafeKey(key)).toBe(true);
  });
});
