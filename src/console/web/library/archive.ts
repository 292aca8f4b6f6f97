/** Files of the library in one ZIP archive (PKWARE APPNOTE 6.3), uncompressed: images and videos are compressed already. */
import type { Asset } from '../../../client/media/api.ts';
import { sizeOf } from '../parts/figures.tsx';
import { notify } from '../shell/notices.ts';
import type { User } from '../user.tsx';
import { fileNameOf, signDownload } from './downloading.ts';

/** Sizes and places have 32 bits in the archive. */
const mostBytes = 4_000_000_000;
const mostFiles = 65_000;
const filesAtOnce = 4;

export async function downloadArchive(user: User, assets: readonly Asset[]): Promise<void> {
  const bytes = assets.reduce((sum, { byteSize }) => sum + byteSize, 0);
  if (bytes > mostBytes || assets.length > mostFiles)
    throw new Error(`These files have ${sizeOf(bytes)}. An archive can have ${sizeOf(mostBytes)}. Select fewer files.`);
  notify(`Preparing an archive of ${assets.length} files (${sizeOf(bytes)}) …`);
  const names = uniqueNames(assets.map(fileNameOf));
  const files = new Array<ArchivedFile>(assets.length);
  const waiting = assets.entries();
  const worker = async () => {
    for (const [place, asset] of waiting) {
      const response = await fetch(await signDownload(user, asset));
      if (!response.ok) throw new Error(`“${names[place]}” could not be read (${response.status}). Try again.`);
      files[place] = { name: names[place] ?? '', modifiedAt: new Date(asset.createdAt), bytes: await response.blob() };
    }
  };
  await Promise.all(Array.from({ length: filesAtOnce }, worker));
  const url = URL.createObjectURL(await zip(files));
  const link = document.createElement('a');
  link.href = url;
  link.download = `atelier-${new Date().toISOString().slice(0, 10)}.zip`;
  link.click();
  // The browser has opened the URL by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
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

export interface ArchivedFile {
  readonly name: string;
  readonly modifiedAt: Date;
  /** The browser may keep large ones on its disk. */
  readonly bytes: Blob;
}

export async function zip(files: readonly ArchivedFile[]): Promise<Blob> {
  const parts: BlobPart[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, modifiedAt, bytes } of files) {
    const encoded = new TextEncoder().encode(name);
    const common = { name: encoded, crc: await crcOf(bytes), size: bytes.size, time: dosTimeOf(modifiedAt) };
    const header = record(0x04034b50, [], common, []);
    directory.push(
      record(0x02014b50, [[20, 2]], common, [
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 4],
        [offset, 4],
      ]),
    );
    parts.push(header, bytes);
    offset += header.length + bytes.size;
  }
  const directorySize = directory.reduce((sum, { length }) => sum + length, 0);
  const count: Field = [files.length, 2];
  const end = written([[0x06054b50, 4], [0, 4], count, count, [directorySize, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

type Field = readonly [value: number, bytes: 2 | 4];

interface Common {
  readonly name: Uint8Array<ArrayBuffer>;
  readonly crc: number;
  readonly size: number;
  readonly time: readonly [time: number, date: number];
}

/** The local and the central header of a file differ at both ends only. Bit 11: the name is UTF-8. */
function record(
  signature: number,
  before: readonly Field[],
  { name, crc, size, time }: Common,
  after: readonly Field[],
): Uint8Array<ArrayBuffer> {
  const head = written([
    [signature, 4],
    ...before,
    ...([
      [20, 2],
      [1 << 11, 2],
      [0, 2],
      [time[0], 2],
      [time[1], 2],
    ] as const),
    ...([
      [crc, 4],
      [size, 4],
      [size, 4],
      [name.length, 2],
      [0, 2],
    ] as const),
    ...after,
  ]);
  const whole = new Uint8Array(head.length + name.length);
  whole.set(head);
  whole.set(name, head.length);
  return whole;
}

/** Little-endian. */
function written(fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(fields.reduce((sum, [, length]) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, length] of fields) {
    if (length === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += length;
  }
  return bytes;
}

/** Seconds are halved, and years begin in 1980. */
const dosTimeOf = (date: Date): readonly [number, number] => [
  (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1),
  ((date.getFullYear() - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate(),
];

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** CRC-32 (ISO 3309). */
async function crcOf(blob: Blob): Promise<number> {
  let crc = 0xffffffff;
  const reader = blob.stream().getReader();
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return (crc ^ 0xffffffff) >>> 0;
    for (const byte of value) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  }
}
