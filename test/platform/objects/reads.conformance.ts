import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ObjectChanged } from '#platform/objects/objects.ts';
import type { Rig } from './conformance.fixture.ts';
import { firstChunk, listed, pattern } from './objects.fixture.ts';

const contentType = 'application/octet-stream';

export function describeReads(rig: Rig): void {
  describe('head and get', () => {
    test('a missing object', async () => {
      const key = `${rig.folder()}a`;
      expect(await rig.objects.head(key)).toBeUndefined();
      expect(await rig.objects.get(key)).toBeUndefined();
      expect(await rig.objects.get(key, { ifMatch: '"x"', range: { start: 5, end: 6 } })).toBeUndefined();
    });

    test('a folder is no object', async () => {
      const folder = rig.folder();
      await rig.objects.put(`${folder}a/b`, Buffer.from('x'), { contentType });
      expect(await rig.objects.head(`${folder}a`)).toBeUndefined();
      expect(await rig.objects.get(`${folder}a`)).toBeUndefined();
    });

    test('finds no object below an object', async () => {
      const folder = rig.folder();
      await rig.objects.put(`${folder}a`, Buffer.from('x'), { contentType });
      expect(await rig.objects.head(`${folder}a/b`)).toBeUndefined();
      expect(await rig.objects.get(`${folder}a/b`)).toBeUndefined();
    });

    test('head, get, put and list return the same facts', async () => {
      const key = `${rig.folder()}a`;
      const startedMs = Date.now();
      const written = await rig.objects.put(key, Buffer.from('hello'), { contentType });
      const seen = await rig.objects.head(key);
      const body = await rig.objects.get(key);
      const [found] = await listed(rig.objects, key);
      for (const said of [written, seen, body, found]) {
        expect(said).toMatchObject({ size: 5, etag: written.etag });
        // Some drivers report whole seconds.
        expect(Math.abs((said?.modifiedAt.getTime() ?? 0) - startedMs)).toBeLessThan(60_000);
      }
      expect(written.etag).toMatch(/^"[^"]+"$/);
      expect(body).toMatchObject({ start: 0, end: 4 });
      expect(body && (await buffer(body.stream)).toString()).toBe('hello');
    });

    test.each([0, 1, 1_000_000])('%d bytes that are requested as a whole', async (size) => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, pattern(size, 1), { contentType });
      const body = await rig.objects.get(key, { whole: true });
      expect(body && (await buffer(body.stream)).equals(pattern(size, 1))).toBe(true);
    });

    test('a reader of an object that is overwritten gets the old version completely', async () => {
      const key = `${rig.folder()}a`;
      const before = pattern(20_000_000, 1);
      await rig.objects.put(key, before, { contentType });
      const body = await rig.objects.get(key);
      if (body === undefined) throw new Error('it is there');
      const start = await firstChunk(body.stream);
      await rig.objects.put(key, pattern(20_000_000, 2), { contentType });
      const rest = await buffer(body.stream);
      expect(Buffer.concat([start, rest]).equals(before)).toBe(true);
    });

    test('a stream that is not read, or only in part, is released', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, pattern(1_000_000, 1), { contentType });
      for (let round = 0; round < 100; round++) {
        const body = await rig.objects.get(key);
        if (body !== undefined && round % 2 === 0) await firstChunk(body.stream);
        body?.stream.destroy();
      }
      expect((await rig.read(key))?.length).toBe(1_000_000);
    });

    test('a signal ends the read, before and during it', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, pattern(20_000_000, 1), { contentType });
      const reason = new Error('the caller left');
      await expect(rig.objects.get(key, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const controller = new AbortController();
      const body = await rig.objects.get(key, { signal: controller.signal });
      if (body === undefined) throw new Error('it is there');
      await firstChunk(body.stream);
      controller.abort(reason);
      await expect(buffer(body.stream)).rejects.toMatchObject({ name: 'AbortError' });
    });

    test('a missing bucket behaves like an empty one', async () => {
      expect(await rig.missing.head('a/b')).toBeUndefined();
      expect(await rig.missing.get('a/b')).toBeUndefined();
      expect(await listed(rig.missing, '')).toEqual([]);
      expect(await rig.missing.copy('a/b', 'c', { contentType })).toBeUndefined();
      expect(await rig.missing.remove(['a/b', 'c'])).toEqual({ removed: ['a/b', 'c'], failed: [] });
    });
  });

  describe('ifMatch', () => {
    test('reads the given version, or none', async () => {
      const key = `${rig.folder()}a`;
      const { etag } = await rig.objects.put(key, Buffer.from('one'), { contentType });
      const body = await rig.objects.get(key, { ifMatch: etag, range: { start: 1, end: 1 } });
      expect(body && (await buffer(body.stream)).toString()).toBe('n');
      const { etag: next } = await rig.objects.put(key, Buffer.from('two'), { contentType });
      expect(next).not.toBe(etag);
      await expect(rig.objects.get(key, { ifMatch: etag })).rejects.toBeInstanceOf(ObjectChanged);
      await expect(rig.objects.get(key, { ifMatch: '"other"' })).rejects.toBeInstanceOf(ObjectChanged);
      await expect(rig.objects.get(key, { ifMatch: etag })).rejects.toMatchObject({ key });
    });
  });

  describe('ranges', () => {
    test.each([
      [0, 0, 'a'],
      [0, 9, 'abcdefghij'],
      [3, 5, 'def'],
      [9, 9, 'j'],
      [9, 10, 'j'],
      [4, Number.MAX_SAFE_INTEGER, 'efghij'],
    ])('%d to %d of ten bytes', async (start, end, text) => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, Buffer.from('abcdefghij'), { contentType });
      const body = await rig.objects.get(key, { range: { start, end } });
      expect(body).toMatchObject({ size: 10, start, end: start + text.length - 1 });
      expect(body && (await buffer(body.stream)).toString()).toBe(text);
    });

    test.each([
      [10, 10],
      [10, 11],
      [1000, 2000],
      [-1, 3],
      [5, 4],
      [0.5, 2],
      [Number.NaN, 2],
      [0, Number.POSITIVE_INFINITY],
    ])('%d to %d of ten bytes is rejected', async (start, end) => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, Buffer.from('abcdefghij'), { contentType });
      await expect(rig.objects.get(key, { range: { start, end } })).rejects.toBeInstanceOf(RangeError);
    });

    test('of an empty object is absent', async () => {
      const key = `${rig.folder()}a`;
      await rig.objects.put(key, Buffer.alloc(0), { contentType });
      await expect(rig.objects.get(key, { range: { start: 0, end: 0 } })).rejects.toBeInstanceOf(RangeError);
    });

    test('the last bytes of a large object', async () => {
      const key = `${rig.folder()}a`;
      const bytes = pattern(20_000_000, 7);
      await rig.objects.put(key, bytes, { contentType });
      const body = await rig.objects.get(key, { range: { start: 19_999_000, end: 30_000_000 } });
      expect(body && (await buffer(body.stream)).equals(bytes.subarray(19_999_000))).toBe(true);
    });
  });
}
