import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { choice, type Environment, integer, list, number, secret, setting, type Values } from '#platform/config.ts';
import { type Brand, brandPositions, defaultBrand } from './engine/brand.ts';
import type { EngineLimits } from './engine/engine.ts';
import { findFonts } from './engine/fonts.ts';

const hex = () => randomBytes(32).toString('hex');

/** docs/specification/image.md#limits. For every service that works with images, because they share the engine and the variants. */
export const imageSettings = {
  keySecret: secret('SVC_IMAGE_KEY_SECRET', { make: hex }),
  maxSourcePixels: integer('SVC_IMAGE_MAX_SRC_PIXELS', { default: 50_000_000, min: 1 }),
  processTimeoutS: integer('SVC_IMAGE_PROCESS_TIMEOUT_SECS', { default: 30, min: 1, max: 3600 }),
  concurrency: integer('SVC_IMAGE_CONCURRENCY', { default: availableParallelism(), min: 1 }),
  permitWaitMs: integer('SVC_IMAGE_PERMIT_WAIT_MS', { default: 5000, max: 600_000 }),
} as const;

const largestPictureBytes = 10 * 1024 * 1024;
const largestClipBytes = 200 * 1024 * 1024;

const positions = Object.keys(brandPositions) as (keyof typeof brandPositions)[];

/** docs/specification/media.md#brand. The name is also in mails, pages and file names. */
export const brandSettings = {
  name: setting(
    'BRAND_NAME',
    (raw) => {
      if (raw.trim() === '' || [...raw].length > 60 || /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(raw))
        throw new Error('must be one line of 1 to 60 characters');
      return raw.trim();
    },
    { default: defaultBrand.name },
  ),
  watermark: setting('BRAND_WATERMARK', (path) => {
    assertFile(path, largestPictureBytes);
    const beginning = readFileSync(path).toString('latin1', 0, 4096);
    if (!beginning.startsWith('\x89PNG\r\n\x1a\n') && !/<svg[\s>]/.test(beginning))
      throw new Error(`names ${path}, which is neither a PNG nor an SVG file`);
    return path;
  }),
  position: choice('BRAND_WATERMARK_POSITION', positions, { default: 'southeast' }),
  opacity: number('BRAND_WATERMARK_OPACITY', { default: defaultBrand.opacity, min: 0.05, max: 1 }),
  scale: number('BRAND_WATERMARK_SCALE', { default: defaultBrand.scale, min: 0.01, max: 0.9 }),
  closingClip: setting(
    'BRAND_CLOSING_CLIP',
    (raw) => {
      if (raw !== 'auto' && raw !== 'none') assertFile(raw, largestClipBytes);
      return raw;
    },
    { default: 'auto' },
  ),
} as const;

export type BrandSettings = Values<typeof brandSettings>;

function assertFile(path: string, mostBytes: number): void {
  let file: Stats;
  try {
    accessSync(path, constants.R_OK);
    file = statSync(path);
  } catch (error) {
    throw new Error(`names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (!file.isFile() || file.size === 0) throw new Error(`names ${path}, which is not a file with content`);
  if (file.size > mostBytes) throw new Error(`names ${path}, which is larger than ${mostBytes / 1024 / 1024} MiB`);
}

/** Reads the files of the settings, which were readable. */
export function readBrand({ name, watermark, position, opacity, scale, closingClip }: BrandSettings): Brand {
  const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const closing =
    closingClip === 'auto' || closingClip === 'none'
      ? closingClip
      : { path: resolve(closingClip), sha256: digestOf(closingClip) };
  const picture = watermark === undefined ? undefined : readFileSync(watermark);
  return { name, picture, position: brandPositions[position], opacity, scale, closing };
}

/** A name in another script needs a picture. */
export function findUndrawable({ BRAND_NAME: name, BRAND_WATERMARK: picture }: Environment): readonly string[] {
  const [missing] = name && !picture ? findFonts(name).missing : [];
  return missing === undefined
    ? []
    : [
        `BRAND_NAME has the character ${JSON.stringify(missing)}, which no font of the program has: set BRAND_WATERMARK too`,
      ];
}

/** For the image service only. */
export const imageServiceSettings = {
  internalKey: secret('SVC_IMAGE_INTERNAL_KEY', { make: hex }),
  allowedSourceHosts: list('SVC_IMAGE_ALLOWED_SOURCE_HOSTS'),
} as const;

export type ImageSettings = Values<typeof imageSettings>;
export type ImageServiceSettings = Values<typeof imageServiceSettings>;

export function engineLimits(settings: ImageSettings): EngineLimits {
  const { maxSourcePixels, processTimeoutS, concurrency, permitWaitMs } = settings;
  return { maxSourcePixels, processTimeoutMs: processTimeoutS * 1000, concurrency, permitWaitMs };
}
