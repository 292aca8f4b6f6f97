import { describe, expect, it } from 'vitest';
import { fadingScene, fileTypeBox, pipe, scene } from './pictures.testing.ts';
import { refuse, sniff } from './sniffing.ts';

const text = (content: string) => Buffer.from(content, 'latin1');

describe('the five formats are known by their bytes', () => {
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
  ] as const)('%s', async (mime, make) => {
    expect(sniff(await make())).toBe(mime);
  });

  it('looks into a view of a larger buffer, and no further', async () => {
    const png = await pipe(scene()).png().toBuffer();
    const padded = Buffer.concat([text('GIF89a'), png]);
    expect(sniff(padded.subarray(6))).toBe('image/png');
    expect(sniff(padded.subarray(0, 3))).toBeUndefined();
  });
});

describe('what is none of them', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>';
  it.each([
    ['svg', text(svg), 'unsupported'],
    ['svg after a declaration', text(`<?xml version="1.0"?>\n<!-- drawn -->\n${svg}`), 'unsupported'],
    ['svg after a byte order mark', Buffer.from(`\uFEFF ${svg}`), 'unsupported'],
    ['svg with a prefix', text('<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'), 'unsupported'],
    ['tiff', pipe(scene()).tiff().toBuffer(), 'unsupported'],
    ['heic', fileTypeBox('heic', 'mif1', 'heic'), 'unsupported'],
    ['heif', fileTypeBox('mif1', 'heic'), 'unsupported'],
    ['bmp', Buffer.concat([text('BM'), Buffer.alloc(64)]), 'unsupported'],
    ['ico', Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0]), 'unsupported'],
    ['jpeg xl', Buffer.from([0xff, 0x0a, 0, 0, 0, 0]), 'unsupported'],
    ['photoshop', text('8BPS\0\x01\0\0'), 'unsupported'],
    ['nothing', Buffer.alloc(0), 'undecodable'],
    ['one byte', Buffer.from([0xff]), 'undecodable'],
    ['zeros', Buffer.alloc(1000), 'undecodable'],
    ['text', text('not a picture'), 'undecodable'],
    ['html that mentions svg', text('<!doctype html><p>svg</p>'), 'undecodable'],
    ['pdf', text('%PDF-1.7\n'), 'undecodable'],
    ['mp4', fileTypeBox('isom', 'mp42'), 'undecodable'],
    ['zip', text('PK\x03\x04'), 'undecodable'],
    ['riff that is no webp', text('RIFF\x10\0\0\0WAVEfmt '), 'undecodable'],
    ['a box that lies about its length', text('\xff\xff\xff\xffftyp'), 'undecodable'],
  ] as const)('%s', async (_name, bytes, reason) => {
    const whole = await bytes;
    expect(sniff(whole)).toBeUndefined();
    expect(await refuse(whole)).toMatchObject({ name: 'PictureFault', reason });
  });
});
