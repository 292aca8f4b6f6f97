import sharp from 'sharp';
import { expect, it } from 'vitest';
import { renderEdit, renderImage } from './images.ts';

/** The lowest rows, where the caption is. */
async function captionOf(image: Uint8Array): Promise<Buffer> {
  const { width, height } = await sharp(image).metadata();
  return sharp(image)
    .extract({ left: 0, top: height - 30, width, height: 30 })
    .greyscale()
    .raw()
    .toBuffer();
}

it('shows the prompt of an edit, and nothing of the caption of its source', async () => {
  const size = [640, 480] as const;
  const [plain, captioned] = await Promise.all([renderImage('a', size, 1), renderImage('W'.repeat(50), size, 1)]);
  // The same picture below: only the captions of the sources differ.
  const blank = await sharp(plain).png().toBuffer();
  const bottom = await sharp(captioned).extract({ left: 0, top: 446, width: 640, height: 34 }).png().toBuffer();
  const other = await sharp(blank)
    .composite([{ input: bottom, left: 0, top: 446 }])
    .png()
    .toBuffer();
  const edits = await Promise.all([blank, other].map((source) => renderEdit('a red moon', source)));
  const [one, two] = await Promise.all(edits.map(captionOf));
  expect(one?.equals(two ?? Buffer.alloc(0))).toBe(true);
  expect(Math.max(...(one ?? []))).toBeGreaterThan(200);
});
