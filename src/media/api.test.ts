import { describe, expect, it } from 'vitest';
import { validationMessage } from '#platform/http/server.ts';
import { registrationRequest, signRequest, uploadRequest } from './api.ts';

const id = '0e3b6f8a-0000-4000-8000-00000000000a';
const upload = { scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/jpeg' };

/** What each field takes and refuses; one case each side of each limit. */
const fields: Record<string, { readonly takes: unknown[]; readonly refuses: unknown[] }> = {
  scopeKind: {
    takes: ['a', 'a'.repeat(64), 'Az09_-', '__proto__'],
    refuses: ['', 'a'.repeat(65), 'a b', 'a/b', '..', 'a.b', 'é', 'a\n', 'a\0', '%2e', 7, null, undefined],
  },
  scopeId: {
    takes: ['a', 'a'.repeat(128), 'Az09_-'],
    refuses: ['', 'a'.repeat(129), 'a b', 'a/b', '..', '.', 'a\\b', 'a\n', 7, null, undefined],
  },
  kind: {
    takes: ['image', 'a'.repeat(64), 'ein Bild / two', '🙂'.repeat(64), '..'],
    refuses: ['', 'a'.repeat(65), '🙂'.repeat(65), 'a\0', 'a\n', '\ud800', 7, null, undefined],
  },
  mime: {
    takes: ['image/jpeg', 'image/svg+xml', 'application/vnd.a.b-c', `a/${'b'.repeat(127)}`, `${'a'.repeat(127)}/b`],
    refuses: [
      '',
      'image',
      'image/',
      '/jpeg',
      'image/*',
      'image/jpeg; charset=utf-8',
      'image /jpeg',
      ' image/jpeg',
      'image/jpeg\n',
      'image/jpeg\r\nx: y',
      'a/b/c',
      '../../x',
      `a/${'b'.repeat(128)}`,
      `${'a'.repeat(128)}/b`,
      7,
      null,
      undefined,
    ],
  },
  ownerId: {
    takes: [id, id.toUpperCase(), undefined, null],
    refuses: ['', 'x', `${id}0`, `{${id}}`, id.replaceAll('-', ''), ` ${id}`, 7],
  },
  assetId: {
    takes: [id, id.toUpperCase(), '11111111-1111-1111-1111-111111111111'],
    refuses: ['', 'x', `${id}/..`, '../../../etc/passwd', `${id}\0`, 7],
  },
  byteSize: {
    takes: [0, 1, Number.MAX_SAFE_INTEGER, undefined, null],
    refuses: [-1, 1.5, '1', Number.MAX_SAFE_INTEGER + 1, Number.NaN, true],
  },
};

it('names a missing id as missing', () => {
  const { error } = registrationRequest.safeParse(upload, { error: validationMessage });
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([[['assetId'], 'is required']]);
});

describe.each(Object.entries(fields))('%s', (name, { takes, refuses }) => {
  it.each(takes)('accepts %j', (value) => {
    expect(uploadRequest.safeParse({ ...upload, [name]: value }).error).toBeUndefined();
    expect(registrationRequest.safeParse({ ...upload, assetId: id, [name]: value }).error).toBeUndefined();
  });

  it.each(refuses)('refuses %j', (value) => {
    for (const schema of [uploadRequest, registrationRequest]) {
      const { error } = schema.safeParse({ ...upload, assetId: id, [name]: value });
      expect(error?.issues.map((issue) => issue.path)).toEqual([[name]]);
    }
  });
});

const facts: typeof fields = {
  assetId: { takes: [id], refuses: [undefined, null] },
  width: { takes: [0, 1, 2 ** 31 - 1, null], refuses: [-1, 0.5, 2 ** 31, '1'] },
  height: { takes: [0, 1, 2 ** 31 - 1, null], refuses: [-1, 0.5, 2 ** 31, '1'] },
  durationMs: { takes: [0, 2 ** 31, Number.MAX_SAFE_INTEGER, null], refuses: [-1, 0.5, '1'] },
  blurhash: {
    takes: ['LEHV6nWB2yk8pyo0adR*.7kCMdnj', 'a'.repeat(255), null],
    refuses: ['', 'a'.repeat(256), 'é', 'a\0', 7],
  },
  thumbAssetId: { takes: [id, null], refuses: ['', 'x', 7] },
};

describe.each(Object.entries(facts))('%s of a registration', (name, { takes, refuses }) => {
  it.each(takes)('accepts %j', (value) => {
    expect(registrationRequest.safeParse({ ...upload, assetId: id, [name]: value }).error).toBeUndefined();
  });

  it.each(refuses)('refuses %j', (value) => {
    const { error } = registrationRequest.safeParse({ ...upload, assetId: id, [name]: value });
    expect(error?.issues.map((issue) => issue.path)).toEqual([[name]]);
  });
});

describe('a signing request', () => {
  it.each([
    ['no refs', { refs: [] }],
    ['200 refs', { refs: Array(200).fill(id) }],
    ['anything as a ref', { refs: ['', '..', '\0', '__proto__', 'a/b', 'x'.repeat(5000)] }],
    ['a legacy bucket', { refs: [], legacyBucket: 'agent_message' }],
    ['no legacy bucket', { refs: [], legacyBucket: null }],
    ['every character of a bucket', { refs: [], legacyBucket: 'Az09._-' }],
    ['three dots', { refs: [], legacyBucket: '...' }],
    ['the longest bucket', { refs: [], legacyBucket: 'a'.repeat(255) }],
  ])('takes %s', (_name, request) => {
    expect(signRequest.safeParse(request).error).toBeUndefined();
  });

  it.each([
    ['201 refs', { refs: Array(201).fill(id) }, ['refs']],
    ['missing refs', {}, ['refs']],
    ['refs that are no array', { refs: id }, ['refs']],
    ['a ref that is no text', { refs: [id, 7] }, ['refs', 1]],
    ['a dot as bucket', { refs: [], legacyBucket: '.' }, ['legacyBucket']],
    ['two dots as bucket', { refs: [], legacyBucket: '..' }, ['legacyBucket']],
    ['a slash in the bucket', { refs: [], legacyBucket: 'a/b' }, ['legacyBucket']],
    ['an empty bucket', { refs: [], legacyBucket: '' }, ['legacyBucket']],
    ['a bucket with a NUL', { refs: [], legacyBucket: 'a\0' }, ['legacyBucket']],
    ['too long a bucket', { refs: [], legacyBucket: 'a'.repeat(256) }, ['legacyBucket']],
  ])('refuses %s', (_name, request, path) => {
    expect(signRequest.safeParse(request).error?.issues.map((issue) => issue.path)).toEqual([path]);
  });
});

it('normalizes ids and MIME types, and drops unknown fields', () => {
  expect(
    uploadRequest.parse({ ...upload, mime: 'IMAGE/JPEG', assetId: id.toUpperCase(), ownerId: null, extra: 1 }),
  ).toEqual({ ...upload, mime: 'image/jpeg', assetId: id, ownerId: undefined, byteSize: undefined });
});
