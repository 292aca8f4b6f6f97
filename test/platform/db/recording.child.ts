/**
 * Records every operation on the files of a database while it is in use, and each row that was acknowledged. Usage:
 * `node recording.child.ts DATA_FOLDER RECORD_FILE`.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { serialize } from 'node:v8';
import type { Operation } from './powercut.fixture.ts';

const [dataDir = '', recordFile = ''] = process.argv.slice(2);
const root = join(dataDir, 'database');
const operations: Operation[] = [];
const original = { ...fs };
const openPaths = new Map<number, string>();

const isRecorded = (path: unknown): path is string => typeof path === 'string' && path.startsWith(`${root}/`);
const nameOf = (path: string) => relative(root, path);

Object.assign(fs, {
  openSync(path: string, flags: string | number, mode?: number) {
    const isNew = isRecorded(path) && !original.existsSync(path);
    const descriptor = original.openSync(path, flags, mode);
    if (isRecorded(path) || path === root) openPaths.set(descriptor, path);
    if (isNew) operations.push({ type: 'create', path: nameOf(path) });
    if (typeof flags === 'number' && flags & fs.constants.O_TRUNC) truncated(path, 0);
    return descriptor;
  },
  closeSync(descriptor: number) {
    openPaths.delete(descriptor);
    original.closeSync(descriptor);
  },
  writeSync(descriptor: number, buffer: Uint8Array, offset: number, length: number, position: number) {
    const path = openPaths.get(descriptor);
    const written = original.writeSync(descriptor, buffer, offset, length, position);
    if (path !== undefined)
      operations.push({
        type: 'write',
        path: nameOf(path),
        position,
        bytes: Buffer.from(buffer.subarray(offset, offset + written)),
      });
    return written;
  },
  writeFileSync(path: string, data: string, options: fs.WriteFileOptions) {
    if (isRecorded(path)) {
      if (data !== '') throw new Error('The recorder expects files to be created empty.');
      if (!original.existsSync(path)) operations.push({ type: 'create', path: nameOf(path) });
      truncated(path, 0);
    }
    original.writeFileSync(path, data, options);
  },
  ftruncateSync(descriptor: number, size: number) {
    original.ftruncateSync(descriptor, size);
    truncated(openPaths.get(descriptor), size);
  },
  truncateSync(path: string, size: number) {
    original.truncateSync(path, size);
    truncated(path, size);
  },
  renameSync(from: string, to: string) {
    original.renameSync(from, to);
    if (isRecorded(from)) operations.push({ type: 'rename', path: nameOf(from), to: nameOf(to) });
    for (const [descriptor, path] of openPaths) if (path === from) openPaths.set(descriptor, to);
  },
  unlinkSync(path: string) {
    original.unlinkSync(path);
    if (isRecorded(path)) operations.push({ type: 'remove', path: nameOf(path) });
  },
  mkdirSync(path: string, mode: number) {
    original.mkdirSync(path, mode);
    if (isRecorded(path)) operations.push({ type: 'createFolder', path: nameOf(path) });
  },
  rmdirSync(path: string) {
    original.rmdirSync(path);
    if (isRecorded(path)) operations.push({ type: 'removeFolder', path: nameOf(path) });
  },
  fsyncSync(descriptor: number) {
    original.fsyncSync(descriptor);
    synced(descriptor);
  },
  fdatasyncSync(descriptor: number) {
    original.fdatasyncSync(descriptor);
    synced(descriptor);
  },
  // The content at the time of the call reaches the disk. Later writes may not.
  fdatasync(descriptor: number, done: (error: Error | null) => void) {
    const position = operations.length;
    const path = openPaths.get(descriptor);
    original.fdatasync(descriptor, (error) => {
      if (error === null && path !== undefined) operations.push({ type: 'sync', path: nameOf(path), upTo: position });
      done(error);
    });
  },
});
syncBuiltinESMExports();

function truncated(path: string | undefined, size: number): void {
  if (isRecorded(path)) operations.push({ type: 'truncate', path: nameOf(path), size });
}

function synced(descriptor: number): void {
  const path = openPaths.get(descriptor);
  if (path !== undefined) operations.push({ type: 'sync', path: nameOf(path), upTo: operations.length });
}

const { openDatabase } = await import('#platform/db/open.ts');
const { createLog } = await import('#platform/log.ts');
const { transaction } = await import('#platform/db/db.ts');
const { sql } = await import('kysely');

const log = createLog({ level: 'silent' });
const database = await openDatabase({ url: 'embedded', dataDir, poolSize: 1, migrations: [], log });
const db = database.queries();
await sql`create table promised (id int primary key, filler text)`.execute(db);
await sql`create index on promised (filler)`.execute(db);

async function addPair(id: number): Promise<void> {
  await transaction(db, async (tx) => {
    await sql`insert into promised values (${id}, repeat('x', 500))`.execute(tx);
    await sql`insert into promised values (${-id}, repeat('y', 500))`.execute(tx);
  });
  operations.push({ type: 'acknowledge', id });
}

for (let round = 0; round < 6; round += 1) {
  // Concurrent, so that one sync covers several commits, and a checkpoint finds commits that are not synced yet.
  const additions = Array.from({ length: 12 }, (_, index) => addPair(12 * round + index + 1));
  if (round === 2) await sql`checkpoint`.execute(db);
  if (round === 3) await sql`vacuum promised`.execute(db);
  // Writes more than one page of the log holds.
  if (round === 4) await sql`update promised set filler = repeat('z', 700) where id < 0`.execute(db);
  await Promise.all(additions);
}
const descriptor = original.openSync(recordFile, 'w');
original.writeSync(descriptor, serialize(operations));
original.closeSync(descriptor);
// Not closed: a power cut ends it.
process.exit(0);
