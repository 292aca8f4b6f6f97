/** A picture for the demo when none is given: an evening sky over three ridges, from nothing but arithmetic. */
import sharp from 'sharp';

const width = 1920;
const height = 1280;

type Colour = readonly [number, number, number];

const sky: readonly Colour[] = [
  [38, 52, 110],
  [196, 110, 128],
  [255, 196, 120],
];
const ridges: readonly {
  readonly colour: Colour;
  readonly top: number;
  readonly swing: number;
  readonly seed: number;
}[] = [
  { colour: [104, 84, 124], top: 0.58, swing: 0.07, seed: 1.3 },
  { colour: [66, 58, 98], top: 0.68, swing: 0.09, seed: 4.1 },
  { colour: [28, 32, 58], top: 0.8, swing: 0.08, seed: 7.7 },
];

/** A JPEG of 1920 × 1280. */
export async function renderLandscape(): Promise<Uint8Array> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let x = 0; x < width; x++) {
    const tops = ridges.map((ridge) => height * (ridge.top - ridge.swing * outline(x / width, ridge.seed)));
    for (let y = 0; y < height; y++) {
      const front = tops.findLastIndex((top) => y >= top);
      const sunDistance = Math.hypot(x - width * 0.68, y - height * 0.5) / height;
      const colour = front === -1 ? glow(skyAt(y / height), sunDistance) : (ridges[front]?.colour ?? sky[0]);
      pixels.set(colour ?? [0, 0, 0], (y * width + x) * 3);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 88 })
    .toBuffer();
}

/** A mountain line between about -1 and 1: four sines of falling weight. */
function outline(x: number, seed: number): number {
  return [1, 2.3, 5.1, 11.7].reduce(
    (sum, pitch, octave) => sum + Math.sin(x * pitch * 6 + seed * (octave + 1)) / 2 ** (octave + 0.5),
    0,
  );
}

function skyAt(y: number): Colour {
  const place = Math.min(y / 0.7, 0.999) * (sky.length - 1);
  const from = sky[Math.floor(place)] ?? [0, 0, 0];
  const to = sky[Math.floor(place) + 1] ?? from;
  return mix(from, to, place % 1);
}

function glow(colour: Colour, sunDistance: number): Colour {
  return mix(colour, [255, 244, 214], sunDistance < 0.07 ? 0.95 : 0.5 * Math.exp(-5 * sunDistance));
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const part = (channel: 0 | 1 | 2) => Math.round(from[channel] + (to[channel] - from[channel]) * share);
  return [part(0), part(1), part(2)];
}
