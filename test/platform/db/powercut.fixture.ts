/** What a power cut leaves of recorded file operations. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

export type Operation =
  | { readonly type: 'create' | 'remove' | 'createFolder' | 'removeFolder'; readonly path: string }
  | { readonly type: 'write'; readonly path: string; readonly position: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly path: string; readonly size: number }
  | { readonly type: 'rename'; readonly path: string; readonly to: string }
  /** Everything before the operation `upTo` has reached the disk. */
  | { readonly type: 'sync'; readonly path: string; readonly upTo: number }
  | { readonly type: 'acknowledge'; readonly id: number };

/**
 * Content that was never synced. The operating system writes it when it wants, in any order. Names are in a journal, as in
 * common file systems: any sync makes all creations, renames, and removals before it durable.
 */
export type Unsynced = 'is lost' | 'is written in tables only' | 'is written at random';

interface Change {
  readonly index: number;
  readonly operation: Extract<Operation, { readonly type: 'write' | 'truncate' }>;
}

class StoredFile {
  unsynced: Change[] = [];
  content: Buffer;

  constructor(content: Buffer) {
    this.content = content;
  }

  sync(upTo: number): void {
    this.content = changed(
      this.content,
      this.unsynced.filter(({ index }) => index < upTo),
    );
    this.unsynced = this.unsynced.filter(({ index }) => index >= upTo);
  }
}

/** A disk that starts with the files of a folder. All paths are relative to it. */
export class Disk {
  readonly #folders = new Set<string>();
  #names = new Map<string, StoredFile>();
  #syncedNames = new Map<string, StoredFile>();
  #index = 0;

  static async read(folder: string): Promise<Disk> {
    const disk = new Disk();
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) disk.#folders.add(relative(folder, path));
      else disk.#names.set(relative(folder, path), new StoredFile(await readFile(path)));
    }
    disk.#syncedNames = new Map(disk.#names);
    return disk;
  }

  apply(operation: Operation): void {
    const { type } = operation;
    if (type === 'create') this.#names.set(operation.path, new StoredFile(Buffer.alloc(0)));
    if (type === 'remove') this.#names.delete(operation.path);
    if (type === 'createFolder') this.#folders.add(operation.path);
    if (type === 'rename') this.#rename(operation.path, operation.to);
    if (type === 'write' || type === 'truncate')
      this.#file(operation.path).unsynced.push({ index: this.#index, operation });
    if (type === 'sync') this.#sync(operation.path, operation.upTo);
    this.#index += 1;
  }

  /** Writes to another folder what a power cut now would leave. */
  async cut(target: string, unsynced: Unsynced): Promise<void> {
    await mkdir(target, { recursive: true });
    for (const folder of this.#folders) await mkdir(join(target, folder), { recursive: true });
    const names = unsynced === 'is lost' ? this.#syncedNames : this.#names;
    for (const [path, file] of names) {
      const written = file.unsynced.filter(() => isWritten(path, unsynced));
      await writeFile(join(target, path), changed(file.content, written), { mode: 0o600 });
    }
  }

  #rename(from: string, to: string): void {
    const file = this.#file(from);
    this.#names.delete(from);
    this.#names.set(to, file);
  }

  #sync(path: string, upTo: number): void {
    this.#names.get(path)?.sync(upTo);
    this.#syncedNames = new Map(this.#names);
  }

  #file(path: string): StoredFile {
    const file = this.#names.get(path);
    if (file === undefined) throw new Error(`The record has no file ${path}.`);
    return file;
  }
}

function isWritten(path: string, unsynced: Unsynced): boolean {
  switch (unsynced) {
    case 'is lost':
      return false;
    case 'is written in tables only':
      return path.startsWith('base/');
    case 'is written at random':
      return Math.random() < 0.5;
  }
}

function changed(content: Buffer, changes: readonly Change[]): Buffer {
  if (changes.length === 0) return content;
  let result: Buffer = Buffer.from(content);
  for (const { operation } of changes) {
    if (operation.type === 'truncate') result = resized(result, operation.size);
    else {
      const { position, bytes } = operation;
      result = resized(result, Math.max(result.length, position + bytes.length));
      bytes.copy(result, position);
    }
  }
  return result;
}

function resized(content: Buffer, size: number): Buffer {
  if (size <= content.length) return content.subarray(0, size);
  return Buffer.concat([content, Buffer.alloc(size - content.length)]);
}
