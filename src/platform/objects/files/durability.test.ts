/** The folders that are synced before a write is acknowledged, so that the names in them survive a power cut. */
import { readlinkSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock as clock } from '../../clock.ts';
import { openFilesystem } from './filesystem.ts';

describe.skipIf(process.platform !== 'linux')('the synced folders', () => {
  const synced: string[] = [];
  let folder: string;
  let prototype: FileHandle;

  beforeAll(async () => {
    const handle = await open('/dev/null');
    prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const { sync } = prototype;
    vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
      await sync.call(this);
    });
  });
  afterAll(() => vi.restoreAllMocks());
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'atelier-durability-')));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const openStore = () =>
    openFilesystem({
      bucket: 'objects',
      root: join(folder, 'objects'),
      stagingFolder: join(folder, '.incoming'),
      clock,
    });
  const syncedBy = async (work: () => Promise<unknown>) => {
    synced.splice(0);
    await work();
    const paths = synced.map((path) => relative(folder, path)).filter((path) => path.startsWith('objects'));
    return [...new Set(paths)].toSorted();
  };
  const chain = ['objects', 'objects/a', 'objects/a/b'];

  it('are all that lead to a new object at first, then only its own', async () => {
    const [store, other] = [openStore(), openStore()];
    const put = (one: typeof store, key: string) => () => one.put(key, Buffer.from(key), { contentType: 'text/plain' });
    expect(await syncedBy(put(store, 'a/b/1'))).toEqual(chain);
    expect(await syncedBy(put(store, 'a/b/2'))).toEqual(['objects/a/b']);
    expect(await syncedBy(() => store.copy('a/b/1', 'a/b/3', { contentType: 'text/plain' }))).toEqual(['objects/a/b']);
    expect(await syncedBy(put(store, 'a/c/1'))).toEqual(['objects/a', 'objects/a/c']);
    // Another process cannot know them.
    expect(await syncedBy(put(other, 'a/b/4'))).toEqual(chain);
  });

  it('include those that another process removed and made again, and the one that names them', async () => {
    const [store, other] = [openStore(), openStore()];
    const put = (key: string) => () => store.put(key, Buffer.from(key), { contentType: 'text/plain' });
    await put('a/b/1')();
    await other.remove(['a/b/1']);
    await mkdir(join(folder, 'objects/a/b'), { recursive: true });
    expect(await syncedBy(put('a/b/1'))).toEqual(chain);
    await mkdir(join(folder, 'other'));
    await rename(join(folder, 'objects/a/b'), join(folder, 'aside'));
    await rename(join(folder, 'other'), join(folder, 'objects/a/b'));
    expect(await syncedBy(put('a/b/2'))).toEqual(['objects/a', 'objects/a/b']);
  });

  it('include the one that an object is removed from, or the first that is left', async () => {
    const store = openStore();
    for (const key of ['a/b/1', 'a/b/2', 'a/c/1'])
      await store.put(key, Buffer.from(key), { contentType: 'text/plain' });
    expect(await syncedBy(() => store.remove(['a/b/1']))).toEqual(['objects/a/b']);
    expect(await syncedBy(() => store.remove(['a/b/2']))).toContain('objects/a');
  });

  it('do not depend on the staging folder, which is made again if it was removed', async () => {
    const store = openStore();
    await store.put('a/1', Buffer.from('x'), { contentType: 'text/plain' });
    await rm(join(folder, '.incoming'), { recursive: true });
    expect(await store.copy('a/1', 'a/2', { contentType: 'text/plain' })).toMatchObject({ size: 1 });
    await rm(join(folder, '.incoming'), { recursive: true });
    expect(await store.put('a/3', Buffer.from('x'), { contentType: 'text/plain' })).toMatchObject({ size: 1 });
  });
});
