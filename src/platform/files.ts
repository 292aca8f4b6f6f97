import { randomUUID } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

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
