/**
 * The wordmark of watermarks, drawn without fonts, because a machine may have none. Each letter has a few strokes of
 * one width, in a box of height 1. Their pixels are white with a dark rim, so that they are legible on light and on
 * dark.
 */
import type { RawImage } from './decoding.ts';

type Point = readonly [x: number, y: number];
/** Points that are connected by straight lines. */
type Stroke = readonly Point[];

interface Letter {
  readonly width: number;
  readonly strokes: readonly Stroke[];
}

const bowl: Stroke = Array.from({ length: 9 }, (_, step) => {
  const angle = ((step - 4) / 8) * Math.PI;
  return [0.3 + 0.26 * Math.cos(angle), 0.27 + 0.27 * Math.sin(angle)] as const;
});

const letters: Readonly<Record<string, Letter>> = {
  A: {
    width: 0.78,
    strokes: [
      [
        [0, 1],
        [0.39, 0],
        [0.78, 1],
      ],
      [
        [0.15, 0.66],
        [0.63, 0.66],
      ],
    ],
  },
  E: {
    width: 0.5,
    strokes: [
      [
        [0.5, 0],
        [0, 0],
        [0, 1],
        [0.5, 1],
      ],
      [
        [0, 0.5],
        [0.42, 0.5],
      ],
    ],
  },
  I: {
    width: 0,
    strokes: [
      [
        [0, 0],
        [0, 1],
      ],
    ],
  },
  L: {
    width: 0.48,
    strokes: [
      [
        [0, 0],
        [0, 1],
        [0.48, 1],
      ],
    ],
  },
  R: {
    width: 0.58,
    strokes: [
      [[0, 1], [0, 0], ...bowl, [0, 0.54]],
      [
        [0.28, 0.54],
        [0.58, 1],
      ],
    ],
  },
  T: {
    width: 0.66,
    strokes: [
      [
        [0, 0],
        [0.66, 0],
      ],
      [
        [0.33, 0],
        [0.33, 1],
      ],
    ],
  },
};

const text = 'ATELIER';
/** All in heights of a letter. */
const gap = 0.3;
const strokeRadius = 0.075;
const rimRadius = 0.24;
/** The margin of the letters on each side, including the rim. */
const margin = 0.5;
const whiteness = 0.92;
const darkness = 0.62;

/** Pixels. Drawn once, larger than most images need it, and resized by the library outside the event loop. */
const letterHeight = 112;
let drawn: RawImage | undefined;

/** White and black with transparency, not premultiplied. */
export function wordmark(): RawImage {
  drawn ??= draw(letterHeight);
  return drawn;
}

/** The height of the letters as a share of the mark's height. */
export const letterShare = 1 / (1 + 2 * margin);

function draw(height: number): RawImage {
  const { strokes, width: length } = layOut();
  const width = Math.ceil((length + 2 * margin) * height);
  const rows = Math.ceil((1 + 2 * margin) * height);
  const distances = distancesTo(strokes, width, rows, height);
  const data = new Uint8Array(width * rows * 4);
  for (const [pixel, distance] of distances.entries()) {
    const white = whiteness * coverage(strokeRadius - distance, height);
    // Fades outward, so that no box is visible.
    const dark = darkness * Math.min(1, Math.max(0, (rimRadius - distance) / (rimRadius - strokeRadius)) * 1.5);
    const alpha = white + dark * (1 - white);
    const level = alpha === 0 ? 0 : (255 * white) / alpha;
    data.set([level, level, level, 255 * alpha], pixel * 4);
  }
  return { data, width, height: rows, channels: 4 };
}

/** The distance of each pixel to the nearest stroke, in heights of a letter. Distances beyond the rim do not matter. */
function distancesTo(strokes: readonly Stroke[], width: number, rows: number, height: number): Float32Array {
  const distances = new Float32Array(width * rows).fill(rimRadius);
  const pixelAt = (place: number, end: number) => Math.min(end, Math.max(0, Math.round((place + margin) * height)));
  for (const [from, to] of strokes.flatMap(linesOf)) {
    const [left, right] = [Math.min(from[0], to[0]) - rimRadius, Math.max(from[0], to[0]) + rimRadius];
    const [top, bottom] = [Math.min(from[1], to[1]) - rimRadius, Math.max(from[1], to[1]) + rimRadius];
    for (let row = pixelAt(top, rows); row < pixelAt(bottom, rows); row++) {
      for (let column = pixelAt(left, width); column < pixelAt(right, width); column++) {
        const at = row * width + column;
        const distance = distanceToLine(from, to, (column + 0.5) / height - margin, (row + 0.5) / height - margin);
        if (distance < (distances[at] ?? 0)) distances[at] = distance;
      }
    }
  }
  return distances;
}

function linesOf(stroke: Stroke): readonly (readonly [Point, Point])[] {
  return stroke.slice(1).map((to, index) => [stroke[index] ?? to, to] as const);
}

/** The share of a pixel inside an edge that is `inside` away from its center. */
function coverage(inside: number, pixelsPerHeight: number): number {
  return Math.min(1, Math.max(0, inside * pixelsPerHeight + 0.5));
}

function layOut() {
  const strokes: Stroke[] = [];
  let left = 0;
  for (const name of text) {
    const letter = letters[name];
    if (letter === undefined) throw new Error(`the wordmark has no ${name}`);
    for (const stroke of letter.strokes) strokes.push(stroke.map(([x, y]) => [left + x, y] as const));
    left += letter.width + gap;
  }
  return { strokes, width: left - gap };
}

function distanceToLine([fromX, fromY]: Point, [toX, toY]: Point, x: number, y: number): number {
  const [alongX, alongY] = [toX - fromX, toY - fromY];
  const share = ((x - fromX) * alongX + (y - fromY) * alongY) / (alongX ** 2 + alongY ** 2);
  const within = Math.min(1, Math.max(0, share));
  return Math.sqrt((x - fromX - within * alongX) ** 2 + (y - fromY - within * alongY) ** 2);
}
