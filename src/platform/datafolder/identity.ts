/**
 * Distinguishes a data folder from a copy of it. `folder.json` contains a random token. The identity combines the token with the
 * inode and change time of the file, which no tool can copy, and with the inodes and creation times of the object folders.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ignore } from '../objects/files/folders.ts';

export const folderFile = 'folder.json';

/** The result of the last comparison between the files and the rows of the database, with its counts. */
const folderState = z.object({
  /** Every file matches its row. */
  reconciled: z.boolean(),
  missing: z.number(),
  different: z.number(),
  unreadable: z.number(),
});
export type FolderState = z.output<typeof folderState>;

const content = folderState.extend({ token: z.string(), inode: z.string() });

export interface Folder {
  readonly identity: string;
  readonly state: FolderState;
  /** The folder was copied after the state was written. `false` is reliable only together with the identity. */
  readonly isCopy: boolean;
}

/** Their contents may be on other disks (symbolic links, mounts) and move independently of the data folder. */
const roots = ['objects', 'legacy'];

/** Returns `undefined` if there is no state or it is not readable. */
export async function readFolder(dataDir: string): Promise<Folder | undefined> {
  const file = join(dataDir, folderFile);
  const text = await readFile(file, 'utf8').catch(ignore('ENOENT'));
  const { data } = content.safeParse(parse(text ?? ''));
  if (data === undefined) return undefined;
  const { token, inode, ...state } = data;
  const found = await stat(file, { bigint: true });
  const rootIds = await Promise.all(roots.map((root) => rootId(join(dataDir, root))));
  const identity = [token, found.ino, found.ctimeNs, ...rootIds].join(' ');
  return { identity, state, isCopy: inode !== String(found.ino) };
}

/** Writes a new token, which invalidates the old identity. If two processes do so at the same time, the last write wins. */
export async function writeFolder(dataDir: string, state: FolderState): Promise<void> {
  const token = randomUUID();
  const draft = join(dataDir, `${folderFile}.${token}`);
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      const { ino } = await handle.stat({ bigint: true });
      await handle.writeFile(`${JSON.stringify({ ...state, token, inode: String(ino) })}\n`);
    } finally {
      await handle.close();
    }
    await rename(draft, join(dataDir, folderFile));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function rootId(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(ignore('ENOENT'));
  return found === undefined ? '-' : `${found.ino}:${found.birthtimeNs}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The file may be empty or truncated after a power failure.
    return undefined;
  }
}
