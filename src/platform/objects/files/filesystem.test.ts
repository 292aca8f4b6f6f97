import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listed } from '../../../../test/platform/objects/objects.fixture.ts';
import { skipWithout } from '../../../../test/programs.fixture.ts';
import { problems } from '../../problem.ts';
import { deriveAddressKey, verifyAddress } from '../addresses.ts';
import type { Objects } from '../objects.ts';
import { openFilesystem } from './filesystem.ts';

const secret = deriveAddressKey('aa'.repeat(32), 'bb'.repeat(32));
const contentType = 'text/plain';
const hourMs = 60 * 60 * 1000;

let folder: string;
let nowMs: number;
let objects: Objects;

function open(root: string, stagingFolder = join(folder, '.incoming')): Objects {
  const edge = { url: 'http://localhost:4010', secret };
  return openFilesystem({ bucket: 'objects', root, stagingFolder, clock: { now: () => nowMs }, edge });
}

const put = (key: string, text = 'x') => objects.put(key, Buffer.from(text), { contentType });
const keys = async (prefix = '') => (await listed(objects, prefix)).map(({ key }) => key);
const isUnavailable = { code: problems.engine_unavailable().code, status: 503 };

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'atelier-files-')));
  nowMs = Date.now();
  objects = open(join(folder, 'objects'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('where files lie', () => {
  test('a list removes empty folders, which a killed process left', async () => {
    await put('u/2/kept/b.jpg');
    await mkdir(join(folder, 'objects/u/1/thread/empty'), { recursive: true });
    expect(await keys('u/')).toEqual(['u/2/kept/b.jpg']);
    expect(await readdir(join(folder, 'objects/u'))).toEqual(['2']);
  });

  test('the key is the path below the root', async () => {
    await put('u/1/a.jpg', 'hello');
    expect(await readFile(join(folder, 'objects/u/1/a.jpg'), 'utf8')).toBe('hello');
  });

  test('reading makes no folders', async () => {
    await objects.head('a');
    await objects.remove(['a']);
    expect(await keys()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('files that others put there are objects', async () => {
    await mkdir(join(folder, 'objects/old'), { recursive: true });
    await writeFile(join(folder, 'objects/old/photo.jpg'), 'old');
    expect(await keys()).toEqual(['old/photo.jpg']);
    expect(await objects.copy('old/photo.jpg', 'new.jpg', { contentType })).toMatchObject({ size: 3 });
  });

  test('names that are no safe keys are passed over', async () => {
    await put('a/b');
    await writeFile(join(folder, 'objects/a/back\\slash'), 'x');
    await writeFile(join(folder, 'objects/a/line\nfeed'), 'x');
    await writeFile(Buffer.concat([Buffer.from(`${folder}/objects/a/`), Buffer.from([0xff, 0xfe])]), 'x');
    expect(await keys()).toEqual(['a/b']);
  });

  test('accepts a link to the root', async () => {
    await mkdir(join(folder, 'disk'));
    await symlink(join(folder, 'disk'), join(folder, 'linked'));
    objects = open(join(folder, 'linked'));
    await put('a/b', 'hello');
    expect(await keys()).toEqual(['a/b']);
    expect(await readFile(join(folder, 'disk/a/b'), 'utf8')).toBe('hello');
    expect(await objects.remove(['a/b'])).toEqual({ removed: ['a/b'], failed: [] });
    expect(await readdir(join(folder, 'disk'))).toEqual([]);
  });

  test('an object in the place of a folder is reported, and is no outage', async () => {
    await put('a', 'stays');
    await put('b/c', 'stays');
    const expected = { message: 'on a file system, no object can be below another object' };
    await expect(put('a/below')).rejects.toMatchObject(expected);
    await expect(put('b')).rejects.toMatchObject(expected);
    await expect(objects.copy('a', 'b', { contentType })).rejects.toMatchObject(expected);
    expect(await keys()).toEqual(['a', 'b/c']);
    expect(await readdir(join(folder, '.incoming'))).toEqual([]);
  });
});

describe('symbolic links below the root are not followed', () => {
  beforeEach(async () => {
    await mkdir(join(folder, 'outside'));
    await writeFile(join(folder, 'outside/secret'), 'secret');
    await put('inside');
    await symlink(join(folder, 'outside'), join(folder, 'objects/folder'));
    await symlink(join(folder, 'outside/secret'), join(folder, 'objects/file'));
    await symlink(join(folder, 'objects/inside'), join(folder, 'objects/alias'));
    await symlink(join(folder, 'objects/loop'), join(folder, 'objects/loop'));
  });

  test.each(['folder/secret', 'file', 'alias', 'loop', 'loop/x'])('%s is not there', async (key) => {
    expect(await objects.head(key)).toBeUndefined();
    expect(await objects.get(key)).toBeUndefined();
    expect(await objects.copy(key, 'copied', { contentType })).toBeUndefined();
    expect(await objects.remove([key])).toEqual({ removed: [key], failed: [] });
    expect(await readFile(join(folder, 'outside/secret'), 'utf8')).toBe('secret');
  });

  test('neither lists nor writes through them', async () => {
    expect(await keys()).toEqual(['inside']);
    expect(await keys('folder/')).toEqual([]);
    await expect(put('folder/new')).rejects.toThrow('symbolic link');
    await expect(put('folder/deep/new')).rejects.toThrow('symbolic link');
    expect(await readdir(join(folder, 'outside'))).toEqual(['secret']);
    await put('file', 'own');
    expect(await readFile(join(folder, 'outside/secret'), 'utf8')).toBe('secret');
  });
});

test.skipIf(skipWithout('mkfifo'))('a pipe or a socket among the files is no object, and blocks no call', async () => {
  await put('a/b');
  execFileSync('mkfifo', [join(folder, 'objects/a/pipe')]);
  const server = createServer().listen(join(folder, 'objects/a/socket'));
  for (const key of ['a/pipe', 'a/socket']) {
    expect(await objects.head(key)).toBeUndefined();
    expect(await objects.get(key)).toBeUndefined();
    expect(await objects.copy(key, 'c', { contentType })).toBeUndefined();
    expect((await objects.remove([key])).failed).toEqual([]);
  }
  expect(await keys()).toEqual(['a/b']);
  expect((await readdir(join(folder, 'objects/a'))).toSorted()).toEqual(['b', 'pipe', 'socket']);
  server.close();
});

describe('folders', () => {
  test('go with their last object, up to the root', async () => {
    await put('a/b/c/1');
    await put('a/b/2');
    await objects.remove(['a/b/c/1']);
    expect(await readdir(join(folder, 'objects/a/b'))).toEqual(['2']);
    await objects.remove(['a/b/2']);
    expect(await readdir(join(folder, 'objects'))).toEqual([]);
  });

  test('remain while they contain any file', async () => {
    await put('a/b/1');
    await writeFile(join(folder, 'objects/a/line\nfeed'), 'x');
    await objects.remove(['a/b/1']);
    expect(await readdir(join(folder, 'objects/a'))).toEqual(['line\nfeed']);
  });
});

describe('the staging folder', () => {
  const staged = () => readdir(join(folder, '.incoming'));

  test('is empty after every kind of write', async () => {
    await put('a');
    await objects.put('a', Buffer.from('x'), { contentType, createOnly: true }).catch(() => undefined);
    await objects.put('b', Readable.from([Buffer.from('ab')]), { contentType, size: 3 }).catch(() => undefined);
    await objects.copy('a', 'c', { contentType });
    await objects.copy('a', 'd', { contentType, ifMatch: '"x"' }).catch(() => undefined);
    await objects.check();
    expect(await staged()).toEqual([]);
    expect(await keys()).toEqual(['a', 'c']);
  });

  test('removes the files of a killed writer an hour after its last write', async () => {
    await put('a');
    await writeFile(join(folder, '.incoming/left'), 'x');
    await put('b');
    expect(await staged()).toEqual(['left']);
    nowMs += 0.9 * hourMs;
    objects = open(join(folder, 'objects'));
    await put('c');
    expect(await staged()).toEqual(['left']);
    nowMs += 1.1 * hourMs;
    await put('d');
    expect(await staged()).toEqual([]);
    expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('preserves a new link to an old object', async () => {
    await put('a');
    await utimes(join(folder, 'objects/a'), 0, 0);
    await link(join(folder, 'objects/a'), join(folder, '.incoming/pinned'));
    await open(join(folder, 'objects')).put('b', Buffer.from('x'), { contentType });
    expect(await staged()).toEqual(['pinned']);
  });
});

describe('etags', () => {
  test('change with bytes of the same length, also in the same instant', async () => {
    const etags = new Set<string>();
    for (let round = 0; round < 200; round++) etags.add((await put('a', String(round % 10))).etag);
    expect(etags.size).toBe(200);
  });

  test('change when another process writes to the file', async () => {
    const { etag } = await put('a', 'one');
    await utimes(join(folder, 'objects/a'), 1, 1);
    expect((await objects.head('a'))?.etag).not.toBe(etag);
  });
});

describe('a failing disk is an engine that does not answer', () => {
  test('which does not reveal paths', async () => {
    await symlink(join(folder, 'loop'), join(folder, 'loop'));
    const failing = open(join(folder, 'objects'), join(folder, 'loop'));
    for (const ask of [() => failing.check(), () => failing.put('a', Buffer.from('x'), { contentType })]) {
      const error = await ask().catch((caught: unknown) => caught);
      expect(error).toMatchObject(isUnavailable);
      expect((error as Error).message).not.toContain(folder);
    }
    const rootless = open(join(folder, 'loop'));
    await expect(rootless.head('a')).rejects.toMatchObject(isUnavailable);
    await expect(listed(rootless, '')).rejects.toMatchObject(isUnavailable);
  });
});

describe('addresses', () => {
  const verify = (address: string, method: 'GET' | 'PUT') => {
    const { pathname, searchParams } = new URL(address);
    const [bucket = '', ...segments] = pathname.slice('/o/'.length).split('/').map(decodeURIComponent);
    return verifyAddress(secret, { method, bucket, key: segments.join('/'), query: searchParams }, nowMs / 1000);
  };

  test('name the request', () => {
    const expires = Math.floor(nowMs / 1000) + 60;
    const terms = { bucket: 'objects', key: 'u/ä 1.jpg', expires, contentType };
    expect(verify(objects.readAddress('u/ä 1.jpg', { expiresInS: 60, contentType }), 'GET')).toEqual({
      method: 'GET',
      ...terms,
    });
    const { url } = objects.writeAddress('u/ä 1.jpg', { expiresInS: 60, contentType, size: 5, maxSize: 9 });
    expect(verify(url, 'PUT')).toEqual({ method: 'PUT', ...terms, size: 5, maxSize: 9 });
    expect(verify(url, 'GET')).toBeUndefined();
  });

  test('need the edge', () => {
    const clock = { now: () => nowMs };
    const alone = openFilesystem({ bucket: 'b', root: folder, stagingFolder: folder, clock });
    expect(() => alone.readAddress('a', { expiresInS: 60 })).toThrow('the URL of the edge');
    expect(() => alone.writeAddress('a', { expiresInS: 60, contentType, maxSize: 1 })).toThrow('the URL of the edge');
  });
});
