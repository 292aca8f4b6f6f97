import sharp from 'sharp';
import { expect, it } from 'vitest';
import { fixture } from '../../../test/media/heif.fixture.ts';
import type { ImageMime } from './engine.ts';
import { weigh, weighTranslated } from './weighing.ts';

const MiB = 1024 * 1024;
const plain = (format: 'jpeg' | 'avif', options = {}) =>
  sharp({ create: { width: 600, height: 400, channels: 3, background: 'red' } })
    .toFormat(format, options)
    .toBuffer();

/** Of 100 times as many pixels as the image has. */
async function weightOf(bytes: Buffer, mime: ImageMime) {
  const header = await sharp(bytes).metadata();
  const size = { width: header.width * 10, height: header.height * 10 };
  const large = { ...header, ...size, autoOrient: size };
  return weigh({ bytes, mime, maxPixels: 50_000_000 }, large, 'inspect') / MiB;
}

it('lets a photograph of 24 megapixels run next to others, and an AVIF of that size alone', async () => {
  expect(await weightOf(await plain('jpeg'), 'image/jpeg')).toBeLessThan(60);
  const avif = await weightOf(await plain('avif'), 'image/avif');
  expect(avif).toBeGreaterThan(432);
  expect(avif).toBeLessThan(448);
  expect(
    await weightOf(await plain('jpeg', { progressive: true, chromaSubsampling: '4:4:4' }), 'image/jpeg'),
  ).toBeGreaterThan(140);
});

it('weighs a HEIC by the size that it claims', () => {
  const bytes = fixture('red.heic');
  const { weight, maxPixels } = weighTranslated({ mime: 'image/heic', bytes, maxPixels: 50_000_000 }, 'inspect');
  expect(maxPixels).toBe(128 * 128);
  expect(weight).toBeLessThan(40 * MiB);
});
