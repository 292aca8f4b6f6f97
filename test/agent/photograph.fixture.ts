/** A photograph as a phone takes it: large, noisy, stored sideways, with the place in its metadata. */
import sharp from 'sharp';

/** Of the upright image: above left, above right, below left, below right. */
export type Corners = readonly [string, string, string, string];

const colors = { red: [200, 40, 40], green: [40, 180, 60], blue: [40, 60, 200], yellow: [220, 200, 40] } as const;
export const uprightCorners: Corners = ['blue', 'red', 'yellow', 'green'];
export const photographPlace = 'Plzen 49.7384N 13.3736E';

/** A JPEG of 2400 × 1800 pixels that is upright when it is turned by 90° clockwise. */
export async function photograph(): Promise<Buffer> {
  const [width, height] = [1200, 900];
  const quarter = (name: keyof typeof colors, left: number, top: number) => ({
    input: { create: { width, height, channels: 3 as const, background: rgb(name) } },
    left,
    top,
  });
  const noise = await sharp({
    create: {
      width: 600,
      height: 450,
      channels: 3,
      background: 'gray',
      noise: { type: 'gaussian', mean: 128, sigma: 25 },
    },
  })
    .resize(2 * width, 2 * height)
    .png()
    .toBuffer();
  return sharp({ create: { width: 2 * width, height: 2 * height, channels: 3, background: 'black' } })
    .composite([
      quarter('red', 0, 0),
      quarter('green', width, 0),
      quarter('blue', 0, height),
      quarter('yellow', width, height),
      { input: noise, blend: 'soft-light' },
    ])
    .withMetadata({ orientation: 6, exif: { IFD0: { Make: 'Phone', ImageDescription: photographPlace } } })
    .jpeg({ quality: 88 })
    .toBuffer();
}

const rgb = (name: keyof typeof colors) => {
  const [r, g, b] = colors[name];
  return { r, g, b };
};

/** The color of each corner, by the nearest name. */
export async function cornersOf(image: Uint8Array): Promise<Corners> {
  const { data, info } = await sharp(image)
    .resize(8, 8, { fit: 'fill' })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const nameAt = (x: number, y: number) => {
    const at = (y * info.width + x) * info.channels;
    const distances = Object.entries(colors).map(([name, parts]) => ({
      name,
      distance: parts.reduce((sum, part, index) => sum + (part - (data[at + index] ?? 0)) ** 2, 0),
    }));
    return distances.toSorted((left, right) => left.distance - right.distance)[0]?.name ?? 'none';
  };
  return [nameAt(1, 1), nameAt(6, 1), nameAt(1, 6), nameAt(6, 6)];
}
