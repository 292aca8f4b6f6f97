/** Copies files between folders, computes their digests and makes the copies readable by their owner only. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { mapConcurrently } from '#platform/concurrency.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { isSafeKey } from '#platform/objects/objects.ts';

const filesAtOnce = 8;

/** Copies in progress end before a failure is thrown, so that nothing is written after it. */
export async function copyEach<File, Result>(
  files: readonly File[],
  copyOne: (file: File) => Promise<Result>,
): Promise<Result[]> {
  const faults: unknown[] = [];
  const copied = await mapConcurrently(files, filesAtOnce, async (file) => {
    if (faults.length > 0) return [];
    return copyOne(file).then(
      (result) => [result],
      (error: unknown) => {
        faults.push(error);
        return [];
      },
    );
  });
  if (faults.length > 0) throw faults[0];
  return copied.flat();
}

/** Gives the copy the modification time of the source, or `modifiedAtMs`. Throws if `to` exists. */
export async function copyFile(from: string, to: string, modifiedAtMs?: number): Promise<Omit<BackedUpFile, 'path'>> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const target = await open(to, 'wx', 0o600);
    try {
      const digest = createHash('sha256');
      let size = 0;
      for await (const chunk of source.createReadStream({ autoClose: false })) {
        digest.update(chunk);
        size += chunk.length;
        await target.writeFile(chunk);
      }
      const age = modifiedAtMs ?? (await source.stat()).mtime.getTime();
      await target.utimes(age / 1000, age / 1000);
      await target.sync();
      return { size, sha256: digest.digest('hex'), modifiedAtMs: age };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

// The contents of a backup: `manifest.jsonl` has a line for each file and empty folder, then one that counts and signs those before
// it. It is written last, so a folder without a complete manifest is not a backup.

/** No path in a manifest may lead out of the folder. */
const path = z.string().refine(isSafeKey);
const keptFile = z.object({
  path,
  size: z.number().int().nonnegative(),
  sha256: z.string(),
  modifiedAtMs: z.number(),
});
const emptyFolder = z.object({ folder: path });
const end = z.object({
  /** 1: with the files of the database; 2: with its rows. */
  backup: z.literal([1, 2]),
  createdAt: z.string(),
  files: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});

export type BackedUpFile = z.output<typeof keptFile>;

export interface Manifest {
  readonly createdAt: string;
  readonly files: readonly BackedUpFile[];
  readonly emptyFolders: readonly string[];
  readonly bytes: number;
}

const fileName = 'manifest.jsonl';

export async function writeManifest(
  folder: string,
  { createdAt, files, emptyFolders, bytes }: Manifest,
): Promise<void> {
  const body = [...files, ...emptyFolders.map((each) => ({ folder: each }))]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
  const last = { backup: 2, createdAt, files: files.length, bytes, sha256: digestOf(body) };
  await writeFile(join(folder, fileName), `${body}${JSON.stringify(last)}\n`, { mode: 0o600, flush: true });
}

/** Throws StartFault if the manifest is missing or was changed. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, fileName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new StartFault(`${folder} is not a backup: it has no ${fileName}.`);
    throw new StartFault(`Cannot read ${join(folder, fileName)} (${error.code}).`);
  });
  try {
    const body = text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1);
    const { createdAt, bytes, files: count, sha256 } = end.parse(JSON.parse(text.slice(body.length)));
    if (digestOf(body) !== sha256) throw new Error('the digest does not match');
    const lines: unknown[] = body
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    const files = lines.slice(0, count).map((line) => keptFile.parse(line));
    return { createdAt, bytes, files, emptyFolders: lines.slice(count).map((line) => emptyFolder.parse(line).folder) };
  } catch (cause) {
    throw new StartFault(`${join(folder, fileName)} is damaged, or from another version of Atelier.`, { cause });
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
