/** Files of the library in one ZIP archive, uncompressed: images and videos are compressed already. */
import { downloadZip } from 'client-zip';
import type { Asset } from '../../../client/media/api.ts';
import { sizeOf } from '../parts/figures.tsx';
import { notify, take } from '../shell/notices.ts';
import { saveFile } from '../shell/saving.ts';
import type { User } from '../user.tsx';
import { fileNameOf, signDownload } from './downloading.ts';

/** The browser collects the files before it saves them. */
const mostBytes = 4_000_000_000;
const filesAtOnce = 4;

export async function downloadArchive(user: User, assets: readonly Asset[]): Promise<void> {
  const bytes = assets.reduce((sum, { byteSize }) => sum + byteSize, 0);
  if (bytes > mostBytes)
    throw new Error(`These files have ${sizeOf(bytes)}. An archive can have ${sizeOf(mostBytes)}. Select fewer files.`);
  const words = `${assets.length} files (${sizeOf(bytes)})`;
  const preparing = notify(`Preparing an archive of ${words} …`, { stays: true });
  await save(user, assets).finally(() => take(preparing));
  notify(`Downloaded ${words}.`);
}

async function save(user: User, assets: readonly Asset[]): Promise<void> {
  const names = uniqueNames(assets.map(fileNameOf));
  const files = new Array<{ name: string; lastModified: Date; input: Blob }>(assets.length);
  const waiting = assets.entries();
  const worker = async () => {
    for (const [place, asset] of waiting) {
      const response = await fetch(await signDownload(user, asset));
      if (!response.ok) throw new Error(`“${names[place]}” could not be read (${response.status}). Try again.`);
      files[place] = {
        name: names[place] ?? '',
        lastModified: new Date(asset.createdAt),
        input: await response.blob(),
      };
    }
  };
  await Promise.all(Array.from({ length: filesAtOnce }, worker));
  saveFile(`atelier-${new Date().toISOString().slice(0, 10)}.zip`, await downloadZip(files).blob());
}

/** `photo.jpg`, `photo (2).jpg` … Names that differ only in case are the same file on some systems. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const dot = name.lastIndexOf('.');
    const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
    let unique = name;
    for (let number = 2; taken.has(unique.toLowerCase()); number++) unique = `${stem} (${number})${ending}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
