import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectBody, Objects, ReadOptions } from '#platform/objects/objects.ts';
import { openFiles } from '../../../test/media/registering.fixture.ts';
import { createDigester } from './digests.ts';

describe('the digests of stored objects', () => {
  let folder: string;
  let objects: Objects;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-digests-'));
    objects = openFiles(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const stored = async (key: string, bytes: Buffer) => objects.put(key, bytes, { contentType: 'video/mp4' });
  const digestsOf = (bytes: Buffer) => ({
    sha256: createHash('sha256').update(bytes).digest('hex'),
    md5: createHash('md5').update(bytes).digest('hex'),
  });
  /** The store, whose bodies begin when they are let. */
  function held() {
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    let reads = 0;
    async function* later(body: ObjectBody) {
      await promise;
      yield* body.stream;
    }
    const get = async (key: string, options?: ReadOptions) => {
      reads += 1;
      const body = await objects.get(key, options);
      return body && { ...body, stream: Readable.from(later(body)) };
    };
    return { store: { bucket: objects.bucket, get }, letGo, countReads: () => reads };
  }

  it('cover all bytes', async () => {
    const bytes = Buffer.alloc(20_000_000, 'film');
    const head = await stored('large', bytes);
    expect(await createDigester().digestsOf(objects, 'large', head)).toEqual(digestsOf(bytes));
  });

  it('are computed once for concurrent requests', async () => {
    const bytes = Buffer.from('asked for by many');
    const head = await stored('many', bytes);
    const { store, letGo, countReads } = held();
    const digester = createDigester();
    const asked = Array.from({ length: 10 }, () => digester.digestsOf(store, 'many', head));
    letGo();
    expect(await Promise.all(asked)).toEqual(Array(10).fill(digestsOf(bytes)));
    expect(await digester.digestsOf(store, 'many', head)).toEqual(digestsOf(bytes));
    expect(countReads()).toBe(1);
  });

  it('are found by a retry if they take longer than a request may', async () => {
    const bytes = Buffer.from('slow');
    const head = await stored('slow', bytes);
    const { store, letGo, countReads } = held();
    const digester = createDigester({ waitMs: 1 });
    await expect(digester.digestsOf(store, 'slow', head)).rejects.toMatchObject({
      code: 'digest_pending',
      status: 503,
    });
    await expect(digester.digestsOf(store, 'slow', head)).rejects.toMatchObject({ code: 'digest_pending' });
    letGo();
    await expect.poll(() => digester.digestsOf(store, 'slow', head).catch(() => undefined)).toEqual(digestsOf(bytes));
    expect(countReads()).toBe(1);
  });

  it('are neither computed nor cached for an object that was replaced', async () => {
    const seen = await stored('changed', Buffer.from('as it was'));
    const head = await stored('changed', Buffer.from('as it is now'));
    const digester = createDigester();
    expect(await digester.digestsOf(objects, 'changed', seen)).toBeUndefined();
    expect(await digester.digestsOf(objects, 'changed', head)).toEqual(digestsOf(Buffer.from('as it is now')));
    expect(await digester.digestsOf(objects, 'absent', seen)).toBeUndefined();
  });

  it('fail as the store does, and are computed after it recovers', async () => {
    const bytes = Buffer.from('cut off');
    const head = await stored('cut', bytes);
    const digester = createDigester();
    const broken = {
      bucket: objects.bucket,
      get: async () => ({ ...head, start: 0, end: head.size - 1, stream: Readable.from([bytes.subarray(1)]) }),
    };
    await expect(digester.digestsOf(broken, 'cut', head)).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(await digester.digestsOf(objects, 'cut', head)).toEqual(digestsOf(bytes));
  });

  it('are computed on a retry after too many large objects were read at once', async () => {
    const bytes = Buffer.from('one too many');
    const head = { ...(await stored('queued', bytes)), size: 16 * 1024 * 1024 };
    const { store, letGo } = held();
    const digester = createDigester({ waitMs: 1 });
    for (let index = 0; index < 8; index++) {
      const key = `large-${index}`;
      const large = { ...(await stored(key, bytes)), size: head.size };
      await expect(digester.digestsOf(store, key, large)).rejects.toMatchObject({ code: 'digest_pending' });
    }
    await expect.poll(() => digester.digestsOf(store, 'queued', head).catch(({ code }) => code)).toBe('overloaded');
    letGo();
    await expect.poll(() => digester.digestsOf(store, 'queued', head).catch(() => undefined)).toEqual(digestsOf(bytes));
  });

  it('may be known from the upload', async () => {
    const head = await stored('noted', Buffer.from('noted'));
    const { store, countReads } = held();
    const digester = createDigester();
    digester.add(objects, 'noted', head.etag, digestsOf(Buffer.from('noted')));
    expect(await digester.digestsOf(store, 'noted', head)).toEqual(digestsOf(Buffer.from('noted')));
    expect(countReads()).toBe(0);
  });
});
