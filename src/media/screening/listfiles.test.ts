import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ListUnusable, openList, parseDigests } from './listfiles.ts';

const a = 'aa'.repeat(16);
const b = 'Bb'.repeat(16);
const parse = (text: string | Buffer) =>
  Buffer.from(parseDigests(Buffer.from(text as string), 16, 'md5.txt')).toString('hex');

describe('a list file', () => {
  it.each<[string, string, string]>([
    ['nothing', '', ''],
    ['one digest', a, a],
    ['a last line that ends', `${a}\n`, a],
    ['several, in either case', `${a}\n${b}\n`, a + b.toLowerCase()],
    ['line ends of Windows', `${a}\r\n${b}\r\n`, a + b.toLowerCase()],
    ['a byte order mark', `\uFEFF${a}\n`, a],
    ['empty lines', `\n\n${a}\n \t\n\n`, a],
    ['spaces around', `  ${a}\t \n`, a],
    ['comments', `# of today\n${a}\n  # ${b}\n`, a],
    ['nothing but a comment', '# none', ''],
    ['one digest twice', `${a}\n${a}`, a + a],
  ])('with %s', (_name, text, digests) => {
    expect(parse(text)).toBe(digests);
  });

  it.each<[string, string | Buffer, number]>([
    ['a digest that is cut off', `${a}\n${a.slice(1)}`, 2],
    ['a digest that is too long', `${a}0`, 1],
    ['a digest of another kind', 'ab'.repeat(32), 1],
    ['a letter that is no digit', a.replace('aa', 'ag'), 1],
    ['two on a line', `${a} ${b}`, 1],
    ['a name behind it', `\n${a}  file.jpg`, 2],
    ['a comment behind it', `${a} # note`, 1],
    ['a page of HTML', '<html>404</html>', 1],
    ['UTF-16', Buffer.from(`\uFEFF${a}\n`, 'utf16le'), 1],
    ['zeros where the disk was full', Buffer.concat([Buffer.from(`${a}\n`), Buffer.alloc(64)]), 2],
  ])('with %s cannot be relied on', (_name, text, line) => {
    expect(() => parse(text)).toThrow(new ListUnusable(`line ${line} of md5.txt is not a digest of 32 hex digits`));
  });

  it('names no digest in its error', () => {
    expect(() => parse(`${a}${b}`)).toThrow(expect.not.objectContaining({ message: expect.stringContaining('aaaa') }));
  });
});

describe('an open list', () => {
  let folder: string;
  let path: string;
  let built: number;
  let count: () => number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'atelier-lists-'));
    path = join(folder, 'md5.txt');
    built = 0;
    count = openList(folder, 'md5.txt', 16, ({ length }) => {
      built += 1;
      return length / 16;
    });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is empty without a file, and without a setting', () => {
    expect(count()).toBe(0);
    expect(openList(undefined, 'md5.txt', 16, ({ length }) => length)()).toBe(0);
  });

  it('is read again whenever it changes, and only then', async () => {
    writeFileSync(path, a);
    expect(count()).toBe(1);
    writeFileSync(path, `${a}\n${b}`);
    expect(count()).toBe(2);
    // Long enough ago for a change since then to be seen by its time.
    await delay(150);
    count();
    const before = built;
    for (let times = 0; times < 5; times++) expect(count()).toBe(2);
    expect(built).toBe(before);
    writeFileSync(join(folder, 'next'), a);
    renameSync(join(folder, 'next'), path);
    expect(count()).toBe(1);
    rmSync(path);
    expect(count()).toBe(0);
  });

  it('detects changes that keep the size and the modification time', async () => {
    const at = new Date(2020, 1, 1);
    const isListed = openList(folder, 'md5.txt', 16, (digests) => Buffer.from(digests).toString('hex'));
    for (let times = 0; times < 20; times++) {
      const digest = times.toString(16).padStart(32, '0');
      writeFileSync(path, digest);
      utimesSync(path, at, at);
      expect(isListed()).toBe(digest);
    }
  });

  it('that breaks is unusable until it is repaired: its earlier content is not used', () => {
    writeFileSync(path, a);
    expect(count()).toBe(1);
    writeFileSync(path, `${a}\noops`);
    for (let times = 0; times < 2; times++) expect(count).toThrow(ListUnusable);
    writeFileSync(path, `${a}\n${b}`);
    expect(count()).toBe(2);
  });

  it('that is a folder, or whose folder is missing or none, is unusable', () => {
    mkdirSync(path);
    expect(count).toThrow(ListUnusable);
    const elsewhere = (name: string) => openList(join(folder, name), 'md5.txt', 16, () => 0);
    expect(elsewhere('missing')).toThrow(ListUnusable);
    writeFileSync(join(folder, 'file'), '');
    expect(elsewhere('file')).toThrow(ListUnusable);
  });
});
