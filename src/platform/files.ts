import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Opens a file for the time of `work`. */
export async function withFile<Result>(
  path: string,
  flags: string,
  work: (handle: FileHandle) => Promise<Result>,
): Promise<Result> {
  const handle = await open(path, flags);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/** Writes all of the bytes: one call of the system may write a part of them. */
export async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/**
 * Writes a file whose readers see all of it or none. `createOnly`: a file that exists stays. Returns whether it was written. A killed
 * process can leave a draft, `.<name>.<uuid>`, in the same folder.
 */
export async function writeWhole(
  file: string,
  bytes: string | Uint8Array,
  { mode, createOnly = false }: { readonly mode?: number; readonly createOnly?: boolean } = {},
): Promise<boolean> {
  const draft = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  try {
    await writeFile(draft, bytes, { flag: 'wx', flush: true, mode });
    // A link fails if the name exists, and a rename replaces what has the name.
    await (createOnly ? link(draft, file) : rename(draft, file));
    return true;
  } catch (error) {
    if (createOnly && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
