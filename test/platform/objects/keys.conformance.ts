import { describe, expect, test } from 'vitest';
import { transaction } from '#platform/db/db.ts';
import { longestAddressS } from '#platform/objects/objects.ts';
import type { Rig } from './conformance.fixture.ts';

const contentType = 'text/plain';

const tricks: readonly [string, string][] = [
  ['nothing', ''],
  ['parent', '..'],
  ['parent below', '../x'],
  ['parent inside', 'a/../../x'],
  ['parent at the end', 'a/..'],
  ['here', '.'],
  ['here inside', 'a/./b'],
  ['absolute', '/etc/passwd'],
  ['twice absolute', '//x'],
  ['empty segment', 'a//b'],
  ['folder', 'a/'],
  ['NUL', 'a\0b'],
  ['line feed', 'a\nb'],
  ['delete character', 'a\x7Fb'],
  ['control of Latin-1', 'a\x85b'],
  ['backslash', 'a\\b'],
  ['parent with backslashes', '..\\..\\x'],
  ['half a surrogate pair', 'a\uD800'],
  ['no character', 'a\uFFFF'],
  ['a segment of 256 bytes', `a/${'x'.repeat(256)}`],
  ['a segment of 256 bytes of UTF-8', 'ä'.repeat(128)],
  ['1025 bytes', `${'x'.repeat(200)}/`.repeat(5) + 'y'.repeat(20)],
];

export function describeKeys(rig: Rig): void {
  describe('keys', () => {
    test.each(tricks)('%s is rejected by every method', async (_, key) => {
      const { objects } = rig;
      const body = Buffer.from('x');
      await expect(objects.head(key)).rejects.toThrow('unsafe');
      await expect(objects.get(key)).rejects.toThrow('unsafe');
      await expect(objects.put(key, body, { contentType })).rejects.toThrow('unsafe');
      await expect(objects.copy(key, 'a', { contentType })).rejects.toThrow('unsafe');
      await expect(objects.copy('a', key, { contentType })).rejects.toThrow('unsafe');
      await expect(objects.remove(['a', key])).rejects.toThrow('unsafe');
      expect(() => objects.readAddress(key, { expiresInS: 60 })).toThrow('unsafe');
      expect(() => objects.writeAddress(key, { expiresInS: 60, contentType, maxSize: 1 })).toThrow('unsafe');
    });

    test.each(['/', '/a', '../', 'a/../', 'a//', 'a\\', 'a\0', './'])('the prefix %j is rejected', (prefix) => {
      expect(() => rig.objects.list(prefix)).toThrow('unsafe');
    });

    test.each([
      ['what looks encoded', '%2e%2e/%2Fetc%2Fpasswd%00'],
      ['dots', '...'],
      ['a hidden one', '.a/..b/c..'],
      ['255 bytes a segment', `${'x'.repeat(255)}/${'ä'.repeat(127)}`],
      ['spaces', ' a / b '],
      ['signs', "!@#$%^&*()-_=+[]{}|;:',<>?~`"],
      ['two ways to write é', 'e\u0301/\u00E9'],
    ])('%s is a name like any other', async (_, name) => {
      const key = rig.folder() + name;
      await rig.objects.put(key, Buffer.from(key), { contentType });
      expect((await rig.read(key))?.toString()).toBe(key);
      expect(await rig.keys(key)).toEqual([key]);
      expect(await rig.objects.remove([key])).toEqual({ removed: [key], failed: [] });
    });

    test('1024 bytes are not too many', async () => {
      const key = `${rig.folder()}${`${'x'.repeat(200)}/`.repeat(5)}`.slice(0, 1024).replace(/\/$/, 'x');
      await rig.objects.put(key, Buffer.from('x'), { contentType });
      expect(await rig.keys(key)).toEqual([key]);
    });
  });

  describe('addresses', () => {
    test.each([0, -1, 1.5, Number.NaN, longestAddressS + 1])('are not valid for %d seconds', (expiresInS) => {
      expect(() => rig.objects.readAddress('a', { expiresInS })).toThrow(RangeError);
      expect(() => rig.objects.writeAddress('a', { expiresInS, contentType, maxSize: 1 })).toThrow(RangeError);
    });

    test('are created without contacting the store, even for a missing bucket', () => {
      expect(URL.canParse(rig.missing.readAddress('ä b', { expiresInS: longestAddressS }))).toBe(true);
      const { url, headers } = rig.missing.writeAddress('a', { expiresInS: 300, contentType, maxSize: 9 });
      expect(URL.canParse(url)).toBe(true);
      expect(headers).toEqual({ 'Content-Type': contentType, 'If-None-Match': '*' });
    });
  });

  test('the store responds to a check', async () => {
    await rig.objects.check();
  });

  test('no call is allowed inside a transaction', async () => {
    const { objects } = rig;
    const db = { transaction: () => ({ execute: (work: (tx: unknown) => unknown) => work({}) }) };
    await transaction(db as unknown as Parameters<typeof transaction>[0], async () => {
      await expect(objects.head('a')).rejects.toThrow('inside a transaction');
      await expect(objects.get('a')).rejects.toThrow('inside a transaction');
      await expect(objects.put('a', Buffer.from('x'), { contentType })).rejects.toThrow('inside a transaction');
      await expect(objects.copy('a', 'b', { contentType })).rejects.toThrow('inside a transaction');
      await expect(objects.remove(['a'])).rejects.toThrow('inside a transaction');
      await expect(objects.check()).rejects.toThrow('inside a transaction');
      expect(() => objects.list('')).toThrow('inside a transaction');
    });
  });
}
