import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { WrongLength } from '#platform/objects/bodies.ts';
import { ObjectChanged, ObjectExists, type WriteOptions } from '#platform/objects/objects.ts';
import type { Rig } from './conformance.fixture.ts';
import { pattern } from './objects.fixture.ts';

const contentType = 'application/octet-stream';

/** Returns a stream of `bytes` in small pieces. If there is an `error`, it ends with it. */
function streamOf(bytes: Buffer, error?: Error): Readable {
  return Readable.from(
    (async function* () {
      for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
      if (error !== undefined) throw error;
    })(),
    { objectMode: false },
  );
}

export function describeWrites(rig: Rig): void {
  describe('put', () => {
    test.each([0, 1, 65_536, 1_000_000, 20_000_000])('%d bytes, at once and streamed', async (size) => {
      const folder = rig.folder();
      const bytes = pattern(size, size);
      expect((await rig.objects.put(`${folder}a`, bytes, { contentType })).size).toBe(size);
      expect((await rig.objects.put(`${folder}b`, streamOf(bytes), { contentType, size })).size).toBe(size);
      expect((await rig.read(`${folder}a`))?.equals(bytes)).toBe(true);
      expect((await rig.read(`${folder}b`))?.equals(bytes)).toBe(true);
    });

    test('a reproducible body is written like any other', async () => {
      const key = `${rig.folder()}a/b`;
      await rig.objects.put(key, Buffer.from('hello'), { contentType, reproducible: true });
      expect((await rig.read(key))?.toString()).toBe('hello');
    });

    test('replaces an existing object', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, Buffer.from('a long one'), { contentType });
      await rig.objects.put(key, Buffer.from('short'), { contentType });
      expect((await rig.read(key))?.toString()).toBe('short');
      expect((await rig.objects.head(key))?.size).toBe(5);
    });

    test('a view of a larger buffer is written within its bounds', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, new Uint8Array(Buffer.from('abcdef').buffer.slice(0)).subarray(0, 2), { contentType });
      expect((await rig.read(key))?.length).toBe(2);
    });

    test('a stream without a size', async () => {
      const key = `${rig.folder()}a`;
      const body = streamOf(Buffer.from('hello'));
      const put = rig.objects.put(key, body, { contentType });
      if (rig.supports.streamsWithoutSize) expect((await put).size).toBe(5);
      else await expect(put).rejects.toThrow('requires its size');
      expect(body.destroyed).toBe(true);
    });
  });

  describe('a failing body writes nothing, and preserves the existing object', () => {
    const failure = new Error('the sender left');
    const large = pattern(2_000_000, 3);
    const cut = () => {
      const stream = new PassThrough();
      stream.write(large);
      setImmediate(() => stream.destroy());
      return stream;
    };
    const failed = () => {
      const stream = new PassThrough();
      stream.destroy(failure);
      return stream;
    };
    const socketFailure = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });

    test.each<[string, () => Uint8Array | Readable, number, unknown]>([
      ['a stream that fails at once', () => streamOf(Buffer.alloc(0), failure), 10, failure],
      ['a stream that has failed before', failed, 10, failure],
      ['a stream that fails midway', () => streamOf(large, failure), 3_000_000, failure],
      ['a stream that fails at its very end', () => streamOf(large, failure), 2_000_000, failure],
      ['a socket that breaks', () => streamOf(large, socketFailure), 3_000_000, socketFailure],
      ['a stream that is destroyed', cut, 3_000_000, { code: 'ERR_STREAM_PREMATURE_CLOSE' }],
      ['a stream that is too short', () => streamOf(large), 2_000_001, WrongLength],
      ['a stream that is too long', () => streamOf(large), 1_999_999, WrongLength],
      ['a stream that should be empty', () => streamOf(Buffer.from('x')), 0, WrongLength],
      ['a buffer that is too short', () => Buffer.from('ab'), 3, WrongLength],
      ['a buffer that is too long', () => Buffer.from('abcd'), 3, WrongLength],
    ])('%s', async (_, make, size, expected) => {
      const folder = rig.folder();
      await rig.objects.put(`${folder}old`, Buffer.from('old'), { contentType });
      for (const key of [`${folder}new`, `${folder}old`]) {
        const body = make();
        const error = await rig.objects.put(key, body, { contentType, size }).catch((caught: unknown) => caught);
        if (typeof expected === 'function') expect(error).toBeInstanceOf(expected);
        else if (expected instanceof Error) expect(error).toBe(expected);
        else expect(error).toMatchObject(expected as object);
        if (body instanceof Readable) expect(body.destroyed).toBe(true);
      }
      expect(await rig.keys(folder)).toEqual([`${folder}old`]);
      expect((await rig.read(`${folder}old`))?.toString()).toBe('old');
    });

    test('waits for a slow sender', async () => {
      const key = `${rig.folder()}a`;
      const stream = new PassThrough();
      const put = rig.objects.put(key, stream, { contentType, size: 4 });
      for (const piece of ['a', 'b', 'c', 'd']) {
        stream.write(piece);
        await sleep(50);
      }
      stream.end();
      expect((await put).size).toBe(4);
    });
  });

  describe('createOnly', () => {
    const createOnly: WriteOptions = { contentType, createOnly: true };

    test('the first write wins, regardless of its size', async () => {
      const folder = rig.folder();
      for (const [key, first] of [
        [`${folder}a`, Buffer.from('first')],
        [`${folder}empty`, Buffer.alloc(0)],
      ] as const) {
        await rig.objects.put(key, first, createOnly);
        const again = rig.objects.put(key, Buffer.from('second'), createOnly);
        await expect(again).rejects.toBeInstanceOf(ObjectExists);
        await expect(again).rejects.toMatchObject({ key });
        expect((await rig.read(key))?.equals(first)).toBe(true);
      }
    });

    test('a stream for an existing key does not hang', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, Buffer.from('first'), createOnly);
      const body = streamOf(pattern(2_000_000, 1));
      await expect(rig.objects.put(key, body, { ...createOnly, size: 2_000_000 })).rejects.toBeInstanceOf(ObjectExists);
      expect(body.destroyed).toBe(true);
      expect((await rig.read(key))?.toString()).toBe('first');
    });

    test('a removed key is available again', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, Buffer.from('first'), createOnly);
      await rig.objects.remove([key]);
      await rig.objects.put(key, Buffer.from('second'), createOnly);
      expect((await rig.read(key))?.toString()).toBe('second');
    });

    test.each([5, 600_000])('of twenty concurrent writes exactly one wins (%d bytes)', async (size) => {
      const key = `${rig.folder()}a/b/c`;
      const bodies = Array.from({ length: 20 }, (_, writer) => pattern(size, writer).fill(writer + 1, 0, 1));
      const outcomes = await Promise.allSettled(
        bodies.map((bytes, writer) =>
          rig.objects.put(key, writer % 2 === 0 ? bytes : streamOf(bytes), { ...createOnly, size }),
        ),
      );
      const winners = outcomes.flatMap((outcome, writer) => (outcome.status === 'fulfilled' ? [writer] : []));
      expect(winners).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ObjectExists);
      }
      const winner = bodies[winners[0] ?? -1];
      expect(winner && (await rig.read(key))?.equals(winner)).toBe(true);
    });
  });

  test('of many concurrent plain writes one survives completely', async () => {
    const key = `${rig.folder()}a`;
    const bodies = Array.from({ length: 10 }, (_, writer) => pattern(300_000, writer));
    await Promise.all(bodies.map((bytes) => rig.objects.put(key, bytes, { contentType })));
    const stands = await rig.read(key);
    expect(bodies.some((bytes) => stands?.equals(bytes))).toBe(true);
  });

  describe('copy', () => {
    test('creates an independent object', async () => {
      const folder = rig.folder();
      const bytes = pattern(3_000_000, 5);
      await rig.objects.put(`${folder}a`, bytes, { contentType });
      const copied = await rig.objects.copy(`${folder}a`, `${folder}deep/er/b`, { contentType });
      expect(copied).toMatchObject({ size: 3_000_000 });
      expect(await rig.objects.head(`${folder}deep/er/b`)).toMatchObject({ size: 3_000_000, etag: copied?.etag });
      await rig.objects.put(`${folder}a`, Buffer.from('other'), { contentType });
      await rig.objects.remove([`${folder}a`]);
      expect((await rig.read(`${folder}deep/er/b`))?.equals(bytes)).toBe(true);
    });

    test('reports the age of the copy, not of its source', async () => {
      const folder = rig.folder();
      const before = await rig.objects.put(`${folder}a`, Buffer.from('x'), { contentType });
      await sleep(1100);
      const copied = await rig.objects.copy(`${folder}a`, `${folder}b`, { contentType });
      expect(copied?.modifiedAt.getTime()).toBeGreaterThan(before.modifiedAt.getTime());
    });

    test('replaces its target, and may be its own target', async () => {
      const folder = rig.folder();
      await rig.objects.put(`${folder}a`, Buffer.from('source'), { contentType });
      await rig.objects.put(`${folder}b`, Buffer.from('target'), { contentType });
      await rig.objects.copy(`${folder}a`, `${folder}b`, { contentType });
      expect((await rig.read(`${folder}b`))?.toString()).toBe('source');
      await rig.objects.copy(`${folder}a`, `${folder}a`, { contentType });
      expect((await rig.read(`${folder}a`))?.toString()).toBe('source');
    });

    test('of an empty object, and of keys that need encoding', async () => {
      const folder = rig.folder();
      await rig.objects.put(`${folder}ä b+%2F`, Buffer.alloc(0), { contentType });
      expect(await rig.objects.copy(`${folder}ä b+%2F`, `${folder}ö?&#`, { contentType })).toMatchObject({ size: 0 });
      expect(await rig.keys(folder)).toEqual([`${folder}ä b+%2F`, `${folder}ö?&#`]);
    });

    test('copies the given version, or none', async () => {
      const folder = rig.folder();
      const { etag } = await rig.objects.put(`${folder}a`, Buffer.from('one'), { contentType });
      expect(await rig.objects.copy(`${folder}a`, `${folder}b`, { contentType, ifMatch: etag })).toBeDefined();
      await rig.objects.put(`${folder}a`, Buffer.from('two'), { contentType });
      const changed = rig.objects.copy(`${folder}a`, `${folder}c`, { contentType, ifMatch: etag });
      await expect(changed).rejects.toBeInstanceOf(ObjectChanged);
      await expect(changed).rejects.toMatchObject({ key: `${folder}a` });
      expect(await rig.keys(folder)).toEqual([`${folder}a`, `${folder}b`]);
    });

    test('returns nothing for a missing object or a folder', async () => {
      const folder = rig.folder();
      await rig.objects.put(`${folder}a/b`, Buffer.from('x'), { contentType });
      expect(await rig.objects.copy(`${folder}none`, `${folder}c`, { contentType, ifMatch: '"x"' })).toBeUndefined();
      expect(await rig.objects.copy(`${folder}a`, `${folder}c`, { contentType })).toBeUndefined();
      expect(await rig.keys(folder)).toEqual([`${folder}a/b`]);
    });
  });
}
