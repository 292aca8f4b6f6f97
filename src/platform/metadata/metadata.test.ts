import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { everyNth, isNightly } from '../../../test/lane.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { readMark, withMark, withoutMetadata } from './metadata.ts';
import { movieMark, type Patch, patched, readMovie } from './movie.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'metadata-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const aiType = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';
const secrets = ['Jane Photographer', 'SECRETSERIAL', 'A hidden comment'];

/** What exiftool reads: the reader of the test is another program. */
async function tagsOf(bytes: Uint8Array, extension: string): Promise<Record<string, unknown>> {
  const file = join(folder, `read.${extension}`);
  await writeFile(file, bytes);
  const { stdout } = await run('exiftool', ['-j', '-G1', '-n', '-ee', file]);
  return (JSON.parse(stdout) as Record<string, unknown>[])[0] ?? {};
}

async function tagged(bytes: Uint8Array, extension: string, tags: readonly string[]): Promise<Buffer> {
  const file = join(folder, `tagged.${extension}`);
  await writeFile(file, bytes);
  await run('exiftool', ['-q', '-overwrite_original', '-n', ...tags, file]);
  return readFile(file);
}

const personal = [
  '-EXIF:Artist=Jane Photographer',
  '-EXIF:GPSLatitude=48.2',
  '-EXIF:GPSLatitudeRef=N',
  '-EXIF:GPSLongitude=16.3',
  '-EXIF:GPSLongitudeRef=E',
  '-EXIF:SerialNumber=SECRETSERIAL',
  '-XMP-dc:Creator=Jane Photographer',
  '-XMP-exif:GPSLatitude=48.2',
];

async function picture(format: 'jpeg' | 'png' | 'webp' | 'avif', isTransparent = false): Promise<Buffer> {
  const background = isTransparent ? { r: 200, g: 90, b: 30, alpha: 0.5 } : { r: 200, g: 90, b: 30 };
  const image = sharp({ create: { width: 60, height: 41, channels: isTransparent ? 4 : 3, background } });
  return image.withIccProfile('p3')[format]().toBuffer();
}

const pixelsOf = (bytes: Uint8Array) => sharp(bytes).raw().toBuffer();
const formats = [
  ['jpeg', 'jpg'],
  ['png', 'png'],
  ['webp', 'webp'],
  ['avif', 'avif'],
] as const;

const isMissing = skipWithout('exiftool');
describe.skipIf(isMissing)('the mark of an image', () => {
  it.each(everyNth(formats, 3))(
    'is written into %s, is read by exiftool, and changes no pixel',
    async (format, extension) => {
      const source = await picture(format);
      for (const mark of ['ai', 'edited'] as const) {
        const marked = withMark(source, mark);
        expect(readMark(marked)).toBe(mark);
        const tags = await tagsOf(marked, extension);
        expect(tags['XMP-iptcExt:DigitalSourceType']).toBe(
          mark === 'ai' ? aiType : aiType.replace('trained', 'compositeWithTrained'),
        );
        expect(tags['ExifTool:Warning'] ?? tags['ExifTool:Error']).toBeUndefined();
        expect(await pixelsOf(marked)).toEqual(await pixelsOf(source));
        expect((await sharp(marked).metadata()).icc).toEqual((await sharp(source).metadata()).icc);
        expect(withMark(marked, mark)).toBe(marked);
      }
      expect(readMark(source)).toBeUndefined();
    },
  );

  it.runIf(isNightly)('replaces another XMP packet and keeps EXIF', async () => {
    for (const [format, extension] of formats) {
      const source = await tagged(await picture(format), extension, personal);
      const tags = await tagsOf(withMark(source, 'edited'), extension);
      expect(tags['XMP-iptcExt:DigitalSourceType']).toContain('compositeWith');
      expect(tags['XMP-dc:Creator']).toBeUndefined();
      expect(tags['IFD0:Artist']).toBe('Jane Photographer');
    }
  });

  it('becomes part of plain, lossless, transparent and animated WebP files', async () => {
    const raw = sharp({ create: { width: 33, height: 20, channels: 4, background: { r: 1, g: 2, b: 3, alpha: 0.4 } } });
    const frames = Buffer.alloc(10 * 40 * 3, 120).fill(9, 0, 600);
    const sources = [
      await raw.clone().removeAlpha().webp().toBuffer(),
      await raw.clone().webp().toBuffer(),
      await raw.clone().webp({ lossless: true }).toBuffer(),
      await sharp(frames, { raw: { width: 10, height: 40, channels: 3, pageHeight: 20 } })
        .webp()
        .toBuffer(),
    ];
    for (const source of sources) {
      const marked = withMark(source, 'ai');
      expect(readMark(marked)).toBe('ai');
      const [before, after] = await Promise.all(
        [source, marked].map((bytes) => sharp(bytes, { pages: -1 }).metadata()),
      );
      expect({ pages: after?.pages, alpha: after?.hasAlpha }).toEqual({
        pages: before?.pages,
        alpha: before?.hasAlpha,
      });
      expect(await pixelsOf(marked)).toEqual(await pixelsOf(source));
    }
  });

  it('is none for other source types and other formats', async () => {
    const camera = await tagged(await picture('jpeg'), 'jpg', [
      `-XMP-iptcExt:DigitalSourceType=${aiType.replace('trainedAlgorithmicMedia', 'digitalCapture')}`,
    ]);
    expect(readMark(camera)).toBeUndefined();
    const gif = await sharp({ create: { width: 2, height: 2, channels: 3, background: '#123456' } })
      .gif()
      .toBuffer();
    expect(withMark(gif, 'ai')).toBe(gif);
    expect(withoutMetadata(gif)).toBe(gif);
  });

  it.each(everyNth(formats, 3))('is read from %s as exiftool writes it', async (format, extension) => {
    const source = await tagged(await picture(format), extension, [`-XMP-iptcExt:DigitalSourceType=${aiType}`]);
    expect(readMark(source)).toBe('ai');
  });
});

describe.skipIf(isMissing)('images without metadata', () => {
  it.each(everyNth(formats, 3))('keep pixels, profile, orientation and mark: %s', async (format, extension) => {
    const orientation = format === 'avif' ? [] : ['-EXIF:Orientation=6'];
    const comment = format === 'jpeg' || format === 'png' ? ['-Comment=A hidden comment'] : [];
    const all = [...personal, ...orientation, ...comment];
    for (const mark of [undefined, `-XMP-iptcExt:DigitalSourceType=${aiType}`]) {
      const source = await tagged(await picture(format), extension, [...all, ...(mark ? [mark] : [])]);
      const stripped = withoutMetadata(source);
      for (const secret of secrets) expect(Buffer.from(stripped).includes(secret)).toBe(false);
      const tags = await tagsOf(stripped, extension);
      const names = Object.keys(tags)
        .filter((name) => !/^(ICC|ExifTool)/.test(name))
        .join();
      expect(names).not.toMatch(/GPS|Artist|Serial|Creator|Comment/);
      expect(tags['XMP-iptcExt:DigitalSourceType']).toBe(mark && aiType);
      expect(tags['ExifTool:Error']).toBeUndefined();
      if (format !== 'avif') expect((await sharp(stripped).metadata()).orientation).toBe(6);
      expect((await sharp(stripped).metadata()).icc).toEqual((await sharp(source).metadata()).icc);
      expect(await pixelsOf(stripped)).toEqual(await pixelsOf(source));
      expect(withoutMetadata(stripped)).toBe(stripped);
    }
  });

  it('lose what follows the image', async () => {
    for (const [format] of formats.slice(0, 3)) {
      const source = Buffer.concat([await picture(format), Buffer.from('A hidden comment')]);
      expect(Buffer.from(withoutMetadata(source)).includes('A hidden comment')).toBe(false);
    }
  });
});

describe.skipIf(isMissing)('damaged images', () => {
  it('never throw, at any length and with any byte changed', async () => {
    let random = 7;
    const next = (limit: number) => {
      random = (random * 1103515245 + 12345) % 2147483648;
      return random % limit;
    };
    for (const [format, extension] of formats) {
      const whole = await tagged(await picture(format, format !== 'jpeg'), extension, personal);
      const cases = Array.from({ length: isNightly ? 400 : 40 }, (_, index) => {
        const copy = Buffer.from(whole);
        for (let count = 0; count < 4; count++) copy[next(Math.min(copy.length, 2000))] = next(256);
        return index % 2 === 0 ? copy : copy.subarray(0, next(copy.length));
      });
      for (const bytes of cases) {
        readMark(bytes);
        withMark(bytes, 'ai');
        withoutMetadata(bytes);
      }
    }
  });
});

describe.skipIf(isMissing || skipWithout('ffmpeg'))('movies', () => {
  const read = (data: Buffer) => async (start: number, end: number) => data.subarray(start, end);
  async function* pieces(data: Buffer, size: number) {
    for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
  }
  async function apply(data: Buffer, patches: readonly Patch[], size = 1000) {
    const made: Buffer[] = [];
    for await (const piece of patched(pieces(data, size), patches)) made.push(piece);
    return Buffer.concat(made);
  }

  async function movie(extension: 'mp4' | 'mov', ...flags: readonly string[]): Promise<Buffer> {
    const file = join(folder, `movie.${extension}`);
    const made = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:d=0.4:r=10', '-pix_fmt', 'yuv420p'];
    const tags = ['-metadata', 'title=A hidden comment', '-metadata', 'creation_time=2020-01-02T03:04:05Z'];
    await run('ffmpeg', ['-v', 'error', '-y', ...made, ...tags, ...flags, file]);
    await run('exiftool', [
      ...['-q', '-overwrite_original', '-XMP-dc:Creator=Jane Photographer', '-Keys:GPSCoordinates=48.2, 16.3'],
      ...['-UserData:GPSCoordinates=48.2, 16.3', '-Keys:Model=SECRETSERIAL', file],
    ]);
    return readFile(file);
  }

  it.each(
    everyNth(
      [
        ['mp4', []],
        ['mp4', ['-movflags', '+faststart']],
        ['mov', []],
      ] as const,
      3,
    ),
  )('have no metadata but the mark: %s %s', async (extension, flags) => {
    const source = await movie(extension, ...flags);
    const { removals, mark } = await readMovie(read(source), source.length, 'all');
    expect(mark).toBeUndefined();
    const made = Buffer.concat([await apply(source, removals), movieMark('ai')]);
    for (const secret of secrets) expect(made.includes(secret)).toBe(false);
    const tags = await tagsOf(made, extension);
    expect(Object.keys(tags).join()).not.toMatch(/GPS|Creator|Title|Model/);
    expect(tags['XMP-iptcExt:DigitalSourceType']).toBe(aiType);
    const file = join(folder, `made.${extension}`);
    await writeFile(file, made);
    const probed = await run('ffprobe', ['-v', 'error', '-show_format', '-show_streams', '-count_frames', file]);
    expect(probed.stdout).not.toMatch(/creation_time|hidden|TAG:location|48\.2/);
    expect(probed.stdout).toContain('nb_read_frames=4');
    const again = await readMovie(read(made), made.length, 'all');
    expect(again).toMatchObject({ mark: 'ai', isMarked: true, removals: [] });
    expect((await readMovie(read(made), made.length, 'mark')).mark).toBe('ai');
  });

  it('are read from marks that exiftool writes', async () => {
    const file = join(folder, 'marked.mp4');
    await writeFile(file, await movie('mp4'));
    await run('exiftool', ['-q', '-overwrite_original', `-XMP-iptcExt:DigitalSourceType=${aiType}`, file]);
    const bytes = await readFile(file);
    expect(await readMovie(read(bytes), bytes.length, 'mark')).toMatchObject({ mark: 'ai', isMarked: false });
  });

  it('never throw if they are damaged', async () => {
    const whole = await movie('mov');
    let random = 3;
    for (let round = 0; round < 300; round++) {
      const copy = Buffer.from(whole);
      for (let count = 0; count < 6; count++) {
        random = (random * 1103515245 + 12345) % 2147483648;
        copy[random % copy.length] = (random >> 8) & 255;
      }
      const bytes = round % 2 === 0 ? copy : copy.subarray(0, random % copy.length);
      const { removals } = await readMovie(read(bytes), bytes.length, 'all');
      expect((await apply(bytes, removals, 777)).length).toBe(bytes.length);
    }
  });
});
