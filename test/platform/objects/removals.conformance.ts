import { describe, expect, test } from 'vitest';
import type { Rig } from './conformance.fixture.ts';

const contentType = 'text/plain';

async function putAll(rig: Rig, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += 16)
    await Promise.all(
      keys.slice(start, start + 16).map((key) => rig.objects.put(key, Buffer.from(key), { contentType })),
    );
}

export function describeRemovals(rig: Rig): void {
  describe('remove', () => {
    test('returns each key once as removed, including absent ones', async () => {
      const folder = rig.folder();
      await putAll(rig, [`${folder}a`, `${folder}b/c`]);
      const requested = [`${folder}a`, `${folder}none`, `${folder}b/c`, `${folder}a`];
      const { removed, failed } = await rig.objects.remove(requested);
      expect([removed.toSorted(), failed]).toEqual([[`${folder}a`, `${folder}b/c`, `${folder}none`], []]);
      expect(await rig.keys(folder)).toEqual([]);
      expect(await rig.objects.head(`${folder}a`)).toBeUndefined();
    });

    test('no key, one absent key, the same key again', async () => {
      const key = `${rig.folder()}a`;
      expect(await rig.objects.remove([])).toEqual({ removed: [], failed: [] });
      for (let round = 0; round < 2; round++)
        expect(await rig.objects.remove([key])).toEqual({ removed: [key], failed: [] });
    });

    test('distinguishes siblings from keys below the prefix', async () => {
      const folder = rig.folder();
      await putAll(rig, [`${folder}a/b`, `${folder}a/b.wm.jpg`, `${folder}a2/b`]);
      expect((await rig.objects.remove([`${folder}a`, `${folder}a/b`, `${folder}a/b/c`])).failed).toEqual([]);
      expect(await rig.keys(folder)).toEqual([`${folder}a/b.wm.jpg`, `${folder}a2/b`]);
    });

    test('keys that need encoding', async () => {
      const folder = rig.folder();
      const keys = ['a&b<c>"\'', 'ä ö', 'a+b%20c%', '?x=1#y', '日本/😀', '&amp;'].map((name) => folder + name);
      await putAll(rig, keys);
      expect((await rig.keys(folder)).toSorted()).toEqual(keys.toSorted());
      const { removed, failed } = await rig.objects.remove(keys);
      expect([removed.toSorted(), failed]).toEqual([keys.toSorted(), []]);
      expect(await rig.keys(folder)).toEqual([]);
    });

    test('more than a thousand, listed page by page before and after', async () => {
      const folder = rig.folder();
      const keys = Array.from({ length: 1205 }, (_, at) => `${folder}${String(at % 7)}/${String(at).padStart(5, '0')}`);
      await putAll(rig, keys);
      expect(await rig.keys(folder)).toEqual(keys.toSorted());
      const { removed, failed } = await rig.objects.remove(keys);
      expect([removed.length, failed]).toEqual([1205, []]);
      expect(await rig.keys(folder)).toEqual([]);
    });

    test('removes nothing else from a folder with concurrent writers', async () => {
      const folder = rig.folder();
      const writer = async (name: string) => {
        for (let round = 0; round < 30; round++) {
          const key = `${folder}x/y/${name}`;
          await rig.objects.put(key, Buffer.from(name), { contentType });
          expect((await rig.read(key))?.toString()).toBe(name);
          expect((await rig.objects.remove([key])).failed).toEqual([]);
          expect(await rig.objects.head(key)).toBeUndefined();
        }
        await rig.objects.put(`${folder}x/y/${name}`, Buffer.from(name), { contentType });
      };
      await Promise.all(['a', 'b', 'c', 'd'].map(writer));
      expect(await rig.keys(folder)).toEqual(['a', 'b', 'c', 'd'].map((name) => `${folder}x/y/${name}`));
    });
  });

  describe('list', () => {
    test('in the order of the keys’ bytes', async () => {
      const folder = rig.folder();
      const names = ['a!/x', 'a.b', 'a/b.c', 'a/b/c', 'a0', 'aA', 'aa', 'a\u{FF5E}', 'a\u{1F600}', 'é', 'B', '~'];
      const keys = names.map((name) => folder + name);
      await putAll(rig, keys);
      const inOrder = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
      expect(await rig.keys(folder)).toEqual(inOrder);
    });

    test('a prefix is the start of a key, not a folder', async () => {
      const folder = rig.folder();
      const names = ['images/1', 'images/2/3', 'images2/1', 'imag', 'other'];
      await putAll(
        rig,
        names.map((name) => folder + name),
      );
      const below = async (prefix: string) => (await rig.keys(folder + prefix)).map((key) => key.slice(folder.length));
      expect(await below('images/')).toEqual(['images/1', 'images/2/3']);
      expect(await below('images')).toEqual(['images/1', 'images/2/3', 'images2/1']);
      expect(await below('imag')).toEqual(['imag', 'images/1', 'images/2/3', 'images2/1']);
      expect(await below('images/2/3')).toEqual(['images/2/3']);
      expect(await below('images/2/3/')).toEqual([]);
      expect(await below('images/9')).toEqual([]);
      expect(await below('Images/')).toEqual([]);
      expect(await below('.')).toEqual([]);
      expect(await below('..')).toEqual([]);
      expect(await rig.keys(folder.slice(0, -1))).toHaveLength(names.length);
      expect(await rig.keys('')).toEqual(expect.arrayContaining(names.map((name) => folder + name)));
    });

    test('starts after a key, whether or not it exists', async () => {
      const folder = rig.folder();
      const names = ['a!/x', 'a.b', 'a/b.c', 'a/b/c', 'a/b/d', 'a0', 'b', 'é'];
      await putAll(
        rig,
        names.map((name) => folder + name),
      );
      const beyond = async (prefix: string, after: string) => {
        const found: string[] = [];
        for await (const { key } of rig.objects.list(folder + prefix, folder + after))
          found.push(key.slice(folder.length));
        return found;
      };
      for (const [at, name] of names.entries()) expect(await beyond('', name)).toEqual(names.slice(at + 1));
      expect(await beyond('', 'a/b')).toEqual(names.slice(2));

      expect(await beyond('', 'a/b/cc')).toEqual(names.slice(4));
      expect(await beyond('', 'A')).toEqual(names);
      expect(await beyond('', 'ü')).toEqual([]);
      expect(await beyond('a/', 'a/b.c')).toEqual(['a/b/c', 'a/b/d']);
      expect(await beyond('a/b', 'a0')).toEqual([]);
      expect(await beyond('a/', 'a!/x')).toEqual(['a/b.c', 'a/b/c', 'a/b/d']);
    });

    test('starts after an earlier page', async () => {
      const folder = rig.folder();
      const keys = Array.from({ length: 1010 }, (_, at) => `${folder}${String(at).padStart(5, '0')}`);
      await putAll(rig, keys);
      const found: string[] = [];
      for await (const { key } of rig.objects.list(folder, keys[3])) found.push(key);
      expect(found).toEqual(keys.slice(4));
    });

    test('can be stopped early', async () => {
      const folder = rig.folder();
      await putAll(rig, [`${folder}a`, `${folder}b`]);
      for await (const { key } of rig.objects.list(folder)) {
        expect(key).toBe(`${folder}a`);
        break;
      }
    });
  });
}
