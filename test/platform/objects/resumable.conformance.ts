import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ObjectExists } from '#platform/objects/objects.ts';
import { OffsetConflict, type ResumableUpload, UploadEnded, UploadTakenOver } from '#platform/objects/resumable.ts';
import { everyNth } from '../../lane.fixture.ts';
import type { Rig } from './conformance.fixture.ts';
import { pattern } from './objects.fixture.ts';

const contentType = 'video/mp4';
const small = 100_000;
/** More than two parts of S3. */
const large = 20_000_000;
const patience = { timeout: 60_000 };

export function describeResumable(rig: Rig): void {
  const begin = (size: number): ResumableUpload => ({
    id: randomBytes(16).toString('hex'),
    key: `u/${rig.folder()}video.mp4`,
    size,
    contentType,
  });
  const uploads = () => rig.objects.resumable;
  const append = (upload: ResumableUpload, offset: number, bytes: Uint8Array) =>
    uploads().append(upload, offset, piecesOf(bytes));
  /** All pages. */
  const swept = async (before: Date, apply: boolean, limit = 1000) => {
    const idle: string[] = [];
    let after: string | undefined;
    do {
      const page = await uploads().sweep({ before, apply, after, limit });
      idle.push(...page.idle);
      after = page.next;
    } while (after !== undefined);
    return idle;
  };
  const stored = async ({ key }: ResumableUpload) => (await rig.read(key)) ?? Buffer.alloc(0);

  describe('resumable uploads', patience, () => {
    test('start at 0, without an object', async () => {
      const upload = begin(small);
      expect(await uploads().offset(upload)).toBe(0);
      expect(await rig.objects.head(upload.key)).toBeUndefined();
    });

    test.each([
      ['a small one', small, [0, 1, 50_000, 50_000, 99_999]],
      ['a large one', large, [1, 3_000_000, 8_388_608, 8_388_609, 16_777_216, 19_999_999]],
    ])('%s in pieces becomes one object', async (_, size, cuts) => {
      const upload = begin(size);
      const bytes = pattern(size, 1);
      let offset = 0;
      for (const cut of [...cuts, size]) {
        expect(await rig.objects.head(upload.key)).toBeUndefined();
        expect(await append(upload, offset, bytes.subarray(offset, cut))).toBe(cut);
        if (cut < size) expect(await uploads().offset(upload)).toBe(cut);
        offset = cut;
      }
      expect((await stored(upload)).equals(bytes)).toBe(true);
      expect(await swept(new Date(Date.now() + 60_000), false)).not.toContain(upload.id);
    });

    test.each(everyNth([small, 8_388_608, 16_777_216, large], 2))(
      '%d bytes in one piece become one object',
      async (size) => {
        const upload = begin(size);
        expect(await append(upload, 0, pattern(size, 2))).toBe(size);
        expect((await stored(upload)).equals(pattern(size, 2))).toBe(true);
      },
    );

    test('a failed body preserves the received bytes', async () => {
      const upload = begin(large);
      const bytes = pattern(large, 3);
      const reason = new Error('the connection broke');
      let offset = 0;
      for (const arriving of [0, 1, 70_000, 9_000_000, 2_000_000]) {
        const body = Readable.from(failing(bytes.subarray(offset, offset + arriving), reason));
        await expect(uploads().append(upload, offset, body)).rejects.toBe(reason);
        offset += arriving;
        expect(await uploads().offset(upload)).toBe(offset);
      }
      await append(upload, offset, bytes.subarray(offset));
      expect((await stored(upload)).equals(bytes)).toBe(true);
    });

    test('bytes at another offset are rejected', async () => {
      const upload = begin(small);
      await expect(append(upload, 1, Buffer.from('x'))).rejects.toEqual(new OffsetConflict(0));
      await append(upload, 0, Buffer.alloc(500));
      for (const offset of [0, 499, 501])
        await expect(append(upload, offset, Buffer.from('x'))).rejects.toMatchObject({
          name: 'OffsetConflict',
          offset: 500,
        });
      expect(await uploads().offset(upload)).toBe(500);
    });

    test('bytes beyond the size are rejected, and those before stay', async () => {
      const upload = begin(10);
      await expect(uploads().append(upload, 0, Readable.from([Buffer.alloc(6), Buffer.alloc(6)]))).rejects.toThrow(
        'longer than the upload',
      );
      expect(await uploads().offset(upload)).toBe(6);
      expect(await rig.objects.head(upload.key)).toBeUndefined();
    });

    test('two concurrent requests lose no acknowledged byte', async () => {
      const upload = begin(large);
      const bytes = pattern(large, 4);
      const cuts = [1_000_000, 10_000_000];
      const outcomes = await Promise.allSettled(cuts.map((cut) => append(upload, 0, bytes.subarray(0, cut))));
      const acknowledged = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 0));
      const offset = await uploads().offset(upload);
      expect(offset).toBeGreaterThanOrEqual(Math.max(1, ...acknowledged));
      await append(upload, offset, bytes.subarray(offset));
      expect((await stored(upload)).equals(bytes)).toBe(true);
    });

    test.each(everyNth([small, large], 2))('an earlier request cannot change an object of %d bytes', async (size) => {
      const upload = begin(size);
      const bytes = pattern(size, 5);
      const slow = new Readable({ read: () => undefined });
      const earlier = uploads().append(upload, 0, slow);
      earlier.catch(() => undefined);
      slow.push(bytes.subarray(0, 1000));
      await expect.poll(() => slow.readableLength).toBe(0);
      // On files the bytes show at once, on S3 when a part is complete.
      await expect.poll(async () => (await uploads().offset(upload)) % 1000).toBe(0);
      let offset = await uploads().offset(upload);
      while (offset < size) {
        offset = await append(upload, offset, bytes.subarray(offset)).catch((error: unknown) => {
          if (error instanceof OffsetConflict) return error.offset;
          throw error;
        });
      }
      slow.push(Buffer.alloc(size - 1000, 'x'));
      slow.push(null);
      await expect(earlier).rejects.toThrow();
      expect((await stored(upload)).equals(bytes)).toBe(true);
    });

    test.each(everyNth([small, large], 2))('an object that another upload created stays, at %d bytes', async (size) => {
      const upload = begin(size);
      await append(upload, 0, pattern(size - 1, 6));
      await rig.objects.put(upload.key, Buffer.from('first'), { contentType });
      await expect(append(upload, size - 1, Buffer.from('x'))).rejects.toBeInstanceOf(ObjectExists);
      expect((await stored(upload)).toString()).toBe('first');
    });

    test('a sealed key cannot be replaced', async () => {
      const upload = begin(large);
      await append(upload, 0, pattern(large - 1, 7));
      await rig.objects.put(upload.key, Buffer.from('registered'), { contentType });
      await uploads().seal(upload.key);
      await expect(append(upload, large - 1, Buffer.from('x'))).rejects.toThrow();
      expect((await stored(upload)).toString()).toBe('registered');
    });

    test.each([0, 500, 10_000_000])('is unknown after a termination at %d bytes', async (size) => {
      const upload = begin(large);
      await append(upload, 0, pattern(size, 8));
      await uploads().terminate(upload);
      await uploads().terminate(upload);
      await expect(uploads().offset(upload)).rejects.toBeInstanceOf(UploadEnded);
      await expect(append(upload, size, Buffer.from('x'))).rejects.toBeInstanceOf(UploadEnded);
    });

    test('never completes if it is terminated while bytes arrive', async () => {
      const upload = begin(small);
      const body = new Readable({ read: () => undefined });
      const appended = uploads().append(upload, 0, body);
      appended.catch(() => undefined);
      body.push(Buffer.alloc(1000));
      await expect.poll(async () => (await uploads().offset(upload)) % 1000).toBe(0);
      await uploads().terminate(upload);
      body.push(Buffer.alloc(1000));
      body.push(null);
      await appended.catch((error: unknown) => {
        if (!(error instanceof UploadTakenOver || error instanceof UploadEnded)) throw error;
      });
      await expect(uploads().offset(upload)).rejects.toBeInstanceOf(UploadEnded);
    });

    test('a sweep removes those without a byte since a time, and no others', async () => {
      const upload = begin(large);
      await append(upload, 0, pattern(10_000_000, 9));
      expect(await swept(new Date(Date.now() - 60_000), true)).toEqual([]);
      expect(await uploads().offset(upload)).toBe(10_000_000);
      const later = new Date(Date.now() + 60_000);
      const found = await swept(later, false);
      expect(found.length).toBeGreaterThan(0);
      expect(await swept(later, true)).toEqual(found);
      expect(await swept(later, true)).toEqual([]);
      expect(await uploads().offset(upload)).toBe(0);
    });

    test('a sweep in pages reads a bounded number of uploads each time, and finds the same', async () => {
      const later = new Date(Date.now() + 60_000);
      await swept(later, true);
      const begun = Array.from({ length: 5 }, () => begin(large));
      for (const upload of begun) await append(upload, 0, pattern(9_000_000, 10));
      const found = await swept(later, false);
      expect(found.length).toBeGreaterThanOrEqual(begun.length);
      expect((await uploads().sweep({ before: later, apply: false, limit: 2 })).idle).toHaveLength(2);
      expect(await swept(later, false, 2)).toEqual(found);
      // What a page removed does not hide what follows it.
      expect(await swept(later, true, 2)).toEqual(found);
      expect(await swept(later, false)).toEqual([]);
      for (const upload of begun) expect(await uploads().offset(upload)).toBe(0);
    });

    test.each(['', '..', '../x', 'A'.repeat(32), `${'a'.repeat(31)}/`, 'a'.repeat(33)])(
      'the id %j is rejected',
      async (id) => {
        const upload = { ...begin(small), id };
        await expect(uploads().offset(upload)).rejects.toThrow('unsafe');
        await expect(append(upload, 0, Buffer.from('x'))).rejects.toThrow('unsafe');
        await expect(uploads().terminate(upload)).rejects.toThrow('unsafe');
      },
    );
  });
}

function piecesOf(bytes: Uint8Array): Readable {
  return Readable.from(slices(bytes), { objectMode: false });
}

function* slices(bytes: Uint8Array, pieceBytes = 65_536): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes);
}

function* failing(bytes: Uint8Array, reason: Error): Generator<Uint8Array> {
  yield* slices(bytes);
  throw reason;
}
