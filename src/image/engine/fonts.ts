/** The fonts of brand names. The program brings them along, because a machine may have none. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

/** In the order in which they are searched. build.mjs copies their bold files beside this module. */
const packages = [
  ...['noto-sans', 'noto-sans-arabic', 'noto-sans-hebrew', 'noto-sans-devanagari', 'noto-sans-thai'],
  ...['noto-sans-sc', 'noto-sans-kr'],
];

interface Fonts {
  /** Bold files in WOFF. */
  readonly files: readonly string[];
  /** Characters that no file has. */
  readonly missing: readonly string[];
}

/** Each file has some characters of a script. */
export function findFonts(text: string): Fonts {
  const characters = [...new Set(text)].filter((character) => !/[\s\p{Cf}]/u.test(character));
  // Accents are drawn by the font of their letters.
  const missing = new Set(characters.filter((character) => !/\p{M}/u.test(character)));
  const marks = characters.filter((character) => !missing.has(character));
  const files: string[] = [];
  for (const name of packages) {
    if (missing.size === 0) break;
    const folder = folderOf(name);
    const subsets = JSON.parse(readFileSync(join(folder, 'unicode.json'), 'utf8')) as Record<string, string>;
    for (const [subset, ranges] of Object.entries(subsets)) {
      const has = inRanges(ranges);
      const found = [...missing].filter(has);
      if (found.length === 0 && !marks.some(has)) continue;
      for (const character of found) missing.delete(character);
      files.push(join(folder, 'files', `${name}-${subset.replaceAll(/[[\]]/g, '')}-700-normal.woff`));
    }
  }
  return { files, missing: [...missing] };
}

function folderOf(name: string): string {
  const built = fileURLToPath(new URL(`./fonts/${name}`, import.meta.url));
  if (existsSync(built)) return built;
  // The sources use the packages.
  return dirname(createRequire(import.meta.url).resolve(`@fontsource/${name}/package.json`));
}

function inRanges(ranges: string): (character: string) => boolean {
  const parsed = ranges.split(',').map((range) => {
    const [from = '', until = from] = range.replace(/^U\+/i, '').split('-');
    return [Number.parseInt(from, 16), Number.parseInt(until, 16)] as const;
  });
  return (character) => {
    const point = character.codePointAt(0) ?? 0;
    return parsed.some(([from, until]) => point >= from && point <= until);
  };
}

/** Converts WOFF to TrueType, which is the only format that libvips draws. WOFF has the same tables, each compressed. */
export function decodeWoff(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const power = Math.floor(Math.log2(count));
  const header = Buffer.alloc(12 + 16 * count);
  woff.copy(header, 0, 4, 8);
  header.writeUInt16BE(count, 4);
  header.writeUInt16BE(16 * 2 ** power, 6);
  header.writeUInt16BE(power, 8);
  header.writeUInt16BE(16 * count - 16 * 2 ** power, 10);
  const pieces: Buffer[] = [header];
  let at = header.length;
  for (let index = 0; index < count; index++) {
    const entry = 44 + 20 * index;
    const [offset, stored, length] = [4, 8, 12].map((field) => woff.readUInt32BE(entry + field)) as [
      number,
      number,
      number,
    ];
    const data = woff.subarray(offset, offset + stored);
    const table = stored < length ? inflateSync(data) : data;
    const place = 12 + 16 * index;
    woff.copy(header, place, entry, entry + 4);
    woff.copy(header, place + 4, entry + 16, entry + 20);
    header.writeUInt32BE(at, place + 8);
    header.writeUInt32BE(length, place + 12);
    const padded = Buffer.alloc(Math.ceil(length / 4) * 4);
    table.copy(padded);
    pieces.push(padded);
    at += padded.length;
  }
  return Buffer.concat(pieces);
}
