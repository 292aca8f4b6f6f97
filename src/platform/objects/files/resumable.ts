/**
 * Resumable uploads on files: a folder per upload with one data file. `part` has no writer; `owned-<uuid>` belongs to the
 * request that renamed it. A rename decides between two requests, so only one of them can acknowledge what it wrote.
 *
 * The owner may be another process, alive or dead. If a request takes the file from it, the name ends in `-shared` from then on: the
 * old owner may still have the file open. Such a file becomes an object by copy, because the bytes of an object must not change.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { withFile, writeAt } from '../../files.ts';
import {
  OffsetConflict,
  type ResumableUpload,
  type ResumableUploads,
  UploadEnded,
  UploadTakenOver,
} from '../resumable.ts';
import { codeOf, type Folders, ignore, place, syncFolder } from './folders.ts';

/** Marks an upload that was terminated. */
const endedMark = 'ended';
const freeName = 'part';
const shared = '-shared';
const isData = (name: string) => name.startsWith(freeName) || name.startsWith('owned-');
/** A listing may miss a file that is being renamed. */
const looks = 5;

/** `root` must be on the file system of the buckets, and outside each of them. `assertSpace` throws `storage_full`. */
export function createFileUploads(folders: Folders, root: string, assertSpace: () => void): ResumableUploads {
  const folderOf = ({ id }: Pick<ResumableUpload, 'id'>) => join(root, id);

  /** Returns the name of the data file, or `undefined` if no bytes have arrived. */
  async function find(folder: string): Promise<string | undefined> {
    for (let look = 1; look <= looks; look++) {
      const names = await readdir(folder).catch(ignore('ENOENT'));
      if (names === undefined) return undefined;
      if (names.includes(endedMark)) throw new UploadEnded();
      const name = names.find(isData);
      if (name !== undefined) return name;
    }
    // The upload was completed. The object exists, or was removed since.
    throw new UploadEnded();
  }

  /** Two requests may do this at once, because a folder cannot be renamed onto one that has a file. */
  async function begin(folder: string): Promise<void> {
    await mkdir(root, { recursive: true });
    const draft = await mkdtemp(join(root, 'new-'));
    try {
      await writeFile(join(draft, freeName), '', { flag: 'wx' });
      await rename(draft, folder);
      await syncFolder(root);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      ignore('ENOTEMPTY', 'EEXIST')(error);
    }
  }

  /** Returns the path of the data file, which then belongs to the caller and has `offset` bytes. */
  async function claim(upload: ResumableUpload, offset: number): Promise<string> {
    const folder = folderOf(upload);
    for (;;) {
      const name = await find(folder);
      if (name === undefined) {
        if (offset > 0) throw new OffsetConflict(0);
        await begin(folder);
        continue;
      }
      const path = join(folder, name);
      const size = await sizeOf(path);
      if (size === undefined) continue;
      if (size !== offset) throw new OffsetConflict(size);
      const owned = join(folder, `owned-${randomUUID()}${name === freeName ? '' : shared}`);
      const isOurs = await rename(path, owned).then(() => true, ignore('ENOENT'));
      if (!isOurs) continue;
      const claimed = (await sizeOf(owned)) ?? 0;
      if (claimed === offset) return owned;
      // The previous owner was still writing.
      await release(owned);
      throw new OffsetConflict(claimed);
    }
  }

  async function complete(upload: ResumableUpload, owned: string): Promise<void> {
    const whole = owned.endsWith(shared) ? await copyOf(owned) : owned;
    try {
      await place(folders, whole, upload.key, { createOnly: true });
    } catch (error) {
      // A link fails with the same code if its file is gone and if its folder is gone.
      if (codeOf(error) === 'ENOENT') throw new UploadTakenOver();
      if (whole !== owned) await rm(whole, { force: true });
      await release(owned);
      throw error;
    }
    await rm(folderOf(upload), { recursive: true, force: true });
  }

  async function terminate(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, endedMark), '');
    // Repeated, because an owner may rename its file during a listing.
    for (;;) {
      const names = (await readdir(folder)).filter((name) => name !== endedMark);
      if (names.length === 0) return;
      await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
    }
  }

  return {
    offset: async (upload) => {
      for (;;) {
        const name = await find(folderOf(upload));
        const offset = name === undefined ? 0 : await syncedSize(join(folderOf(upload), name));
        if (offset !== undefined) return offset;
      }
    },
    append: async (upload, offset, body) => {
      if (offset < upload.size) assertSpace();
      const owned = await claim(upload, offset);
      const { position, failure } = await write(owned, offset, upload.size, body, assertSpace);
      // The upload is complete, even if the request failed at its end: a client that reads this offset sends nothing more.
      if (position === upload.size) await complete(upload, owned);
      else await release(owned);
      if (failure !== undefined && position < upload.size) throw failure;
      return position;
    },
    terminate: (upload) => terminate(folderOf(upload)),
    discard: async (upload, before) => {
      const folder = folderOf(upload);
      if ((await lastChangeMs(folder)) >= before.getTime()) return false;
      await terminate(folder);
      return true;
    },
    // A link never replaces a file.
    seal: async () => undefined,
    sealBelow: async () => undefined,
    sweep: async ({ before, apply, after = '', limit }) => {
      const names = ((await readdir(root).catch(ignore('ENOENT'))) ?? []).filter((name) => name > after).sort();
      const page = names.slice(0, limit);
      const idle: string[] = [];
      for (const name of page) {
        const folder = join(root, name);
        if ((await lastChangeMs(folder)) >= before.getTime()) continue;
        if (apply) await rm(folder, { recursive: true, force: true });
        idle.push(name);
      }
      return { idle, next: page.length < names.length ? page.at(-1) : undefined };
    },
  };
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await lstat(path).catch(ignore('ENOENT')))?.size;
}

/** Syncs the file, because the bytes of a killed writer may be in memory only. Returns `undefined` if it was renamed. */
function syncedSize(path: string): Promise<number | undefined> {
  const sync = async (handle: FileHandle) => {
    await handle.sync();
    return (await handle.stat()).size;
  };
  return withFile(path, 'r', sync).catch(ignore('ENOENT'));
}

/** Resolves when the bytes are durable. `failure` is the error of the body. */
function write(path: string, offset: number, size: number, body: Readable, assertSpace: () => void) {
  return withFile(path, 'r+', async (handle) => {
    let position = offset;
    let failure: unknown;
    try {
      for await (const chunk of body) {
        const bytes: Uint8Array = chunk;
        assertSpace();
        if (position + bytes.length > size) throw new RangeError('the body is longer than the upload');
        await writeAt(handle, bytes, position);
        position += bytes.length;
      }
    } catch (error) {
      failure = error;
    }
    await handle.sync();
    // A write that failed halfway leaves bytes after the position.
    return { position: (await handle.stat()).size, failure };
  });
}

async function release(owned: string): Promise<void> {
  const folder = dirname(owned);
  const free = join(folder, owned.endsWith(shared) ? freeName + shared : freeName);
  const isOurs = await rename(owned, free).then(() => true, ignore('ENOENT'));
  if (!isOurs) throw new UploadTakenOver();
  await syncFolder(folder);
}

async function copyOf(owned: string): Promise<string> {
  const draft = join(dirname(owned), `draft-${randomUUID()}`);
  const isCopied = await copyFile(owned, draft, constants.COPYFILE_FICLONE).then(() => true, ignore('ENOENT'));
  if (!isCopied) throw new UploadTakenOver();
  await syncedSize(draft);
  return draft;
}

async function lastChangeMs(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(ignore('ENOENT', 'ENOTDIR'))) ?? [];
  const paths = [folder, ...names.map((name) => join(folder, name))];
  const stats = await Promise.all(paths.map((path) => lstat(path).catch(ignore('ENOENT'))));
  return Math.max(0, ...stats.map((stat) => stat?.ctimeMs ?? 0));
}
