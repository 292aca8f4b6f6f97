import { describe, expect, it } from 'vitest';
import { fadingScene, fileTypeBox, pipe, scene } from '../../../test/image/images.fixture.ts';
import { bmpOf } from '../../../test/media/bmp.fixture.ts';
import { tiff } from '../../../test/media/tiff.fixture.ts';
import { beginningBytes, recognizeFormat, sniff } from './formats.ts';

const text = (content: string) => Buffer.from(content, 'latin1');
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>';

/** As `fileTypeBox`, its length in 64 bits. */
function longBox(...brands: readonly string[]): Buffer {
  const box = fileTypeBox(...brands);
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write('ftyp', 4, 'latin1');
  head.writeBigUInt64BE(BigInt(box.readUInt32BE() + 8), 8);
  return Buffer.concat([head, box.subarray(8)]);
}

describe('the formats that can be read are known by their bytes', () => {
  it.each([
    ['image/jpeg', () => pipe(scene()).jpeg().toBuffer()],
    ['image/jpeg', () => pipe(scene()).toColourspace('cmyk').jpeg().toBuffer()],
    ['image/png', () => pipe(fadingScene()).png().toBuffer()],
    ['image/webp', () => pipe(scene()).webp().toBuffer()],
    ['image/webp', () => pipe(fadingScene()).webp({ lossless: true }).toBuffer()],
    ['image/gif', () => pipe(scene()).gif().toBuffer()],
    ['image/gif', () => text('GIF87a')],
    ['image/avif', () => pipe(scene(64, 48)).avif({ effort: 0 }).toBuffer()],
    ['image/avif', () => fileTypeBox('avif')],
    ['image/avif', () => fileTypeBox('avis', 'msf1')],
    ['image/avif', () => fileTypeBox('mif1', 'miaf', 'avif')],
    ['image/avif', () => longBox('isom', 'avif')],
    ['image/heic', () => fileTypeBox('heic', 'mif1', 'heic')],
    ['image/heic', () => fileTypeBox('mif1', 'heix')],
    ['image/heic', () => fileTypeBox('isom', 'hevc')],
    ['image/heif', () => fileTypeBox('mif1', 'miaf')],
    ['image/heif', () => fileTypeBox('msf1', 'iso8')],
    ['image/tiff', () => pipe(scene()).tiff().toBuffer()],
    ['image/tiff', () => pipe(scene()).tiff({ bigtiff: true }).toBuffer()],
    ['image/tiff', () => text('MM\0*\0\0\0\x08\0\0')],
    ['image/bmp', () => bmpOf(2, 2, () => [1, 2, 3])],
    ['image/bmp', () => Buffer.concat([text('BM'), Buffer.alloc(12), Buffer.from([12, 0, 0, 0])])],
  ] as const)('%s', async (mime, make) => {
    const bytes = await make();
    expect(await sniff(bytes)).toBe(mime);
    expect(await sniff(bytes.subarray(0, beginningBytes))).toBe(mime);
  });

  it('reads a view of a larger buffer, and no further', async () => {
    const png = await pipe(scene()).png().toBuffer();
    const padded = Buffer.concat([text('GIF89a'), png]);
    expect(await sniff(padded.subarray(6))).toBe('image/png');
    expect(await sniff(padded.subarray(0, 3))).toBeUndefined();
  });
});

describe('images that cannot be read are known all the same', () => {
  it.each([
    ['image/x-icon', Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0])],
    ['image/x-icon', Buffer.from([0, 0, 2, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0])],
    ['image/jxl', Buffer.from([0xff, 0x0a, 0, 0, 0, 0])],
    ['image/vnd.adobe.photoshop', text('8BPS\0\x01\0\0')],
    ['image/jp2', text('\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 \0\0\0\0jp2 ')],
    ['image/x-canon-cr3', fileTypeBox('crx ', 'isom')],
    ['image/x-adobe-dng', tiff({ width: 8, height: 8, fields: { 50706: 1 } })],
    ['image/flif', text('FLIF44')],
  ] as const)('%s', async (mime, bytes) => {
    expect(await sniff(bytes)).toBe(mime);
    await expect(recognizeFormat(bytes)).rejects.toMatchObject({ name: 'ImageFault', reason: 'unsupported' });
  });

  it('treats a brand box that exceeds the read bytes as any brand', async () => {
    const brands = Array.from({ length: 2000 }, () => 'isom');
    const hidden = fileTypeBox(...brands, 'avif');
    expect(await sniff(hidden.subarray(0, beginningBytes))).toBe('image/heif');
  });

  it.each([
    ['svg', svg],
    ['svg after a declaration', `<?xml version="1.0"?>\n<!-- drawn -->\n${svg}`],
    ['svg after a byte order mark', `\uFEFF ${svg}`],
    ['svg with a prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
  ])('%s is an image where it is called one, and text elsewhere', async (_name, drawing) => {
    expect(await sniff(Buffer.from(drawing))).toBeUndefined();
    await expect(recognizeFormat(Buffer.from(drawing))).rejects.toMatchObject({ reason: 'unsupported' });
  });
});

describe('files that are not images', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from([0xff])],
    ['zeros', Buffer.alloc(1000)],
    ['text', text('not an image')],
    ['text that begins like a BMP', text('BMW builds cars, and motorcycles, and the letters mean works.')],
    ['html that mentions svg', text('<!doctype html><p>svg</p>')],
    ['pdf', text('%PDF-1.7\n')],
    ['mp4', fileTypeBox('isom', 'mp42')],
    ['quicktime', fileTypeBox('qt  ')],
    ['zip', text('PK\x03\x04')],
    ['riff that is no webp', text('RIFF\x10\0\0\0WAVEfmt ')],
    ['a box that lies about its length', text('\xff\xff\xff\xffftyp')],
  ] as const)('%s', async (_name, bytes) => {
    expect(await sniff(bytes)).toBeUndefined();
    await expect(recognizeFormat(bytes)).rejects.toMatchObject({ name: 'ImageFault', reason: 'undecodable' });
  });
});
