/** The engine with its permits, deadline and faults. */
import { readMark } from '#platform/metadata/metadata.ts';
import { type Brand, brandIdOf, defaultBrand } from './brand.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { firstPageOf } from './decoders/firstpage.ts';
import { isTranslated, translate } from './decoders/translating.ts';
import type { Opening } from './decoding.ts';
import { type Engine, type EngineLimits, EngineTimeout, ImageFault, type ImageMime } from './engine.ts';
import { recognizeFormat } from './formats.ts';
import { type Claim, createPermits } from './permits.ts';
import { free } from './sources.ts';
import type { Task, Weighed } from './weighing.ts';

/**
 * The most that all images that are processed at once take, with their files. An AVIF of the most pixels takes nearly
 * all of it. With the library itself it is less than 512 MiB.
 */
const memory = 448 * 1024 * 1024;

/** One per process. The permits limit the memory of all services together. */
export function createEngine(limits: EngineLimits, brand: Brand = defaultBrand): Engine {
  const permits = createPermits({ count: limits.concurrency, waitMs: limits.permitWaitMs, memory });

  /** Responds at the deadline. The permit is held until the library has released the image. */
  async function work<Result>(
    bytes: Uint8Array,
    claim: Claim,
    task: Task,
    job: (opening: Opening) => Promise<Result>,
  ): Promise<Result> {
    const mime = await recognizeFormat(bytes);
    const mark = readMark(bytes);
    const { weight, read } = await prepare({ bytes, mime, maxPixels: limits.maxSourcePixels }, limits, task);
    const release = await permits.acquire({ ...claim, bytes: weight });
    const deadline = startDeadline(limits.processTimeoutMs);
    const run = async () => {
      const readable = await read(deadline);
      const opening = { bytes: readable, mime, limits: limitsOf(mime, limits), deadline, brand, mark };
      try {
        return await job(opening);
      } catch (error) {
        if (mime !== 'image/jpeg' || !lacksEnd(error)) throw error;
        const ended = { ...opening, bytes: withEndMarker(readable) };
        await (await import('./decoding.ts')).assertWhole(ended);
        return await job(ended);
      } finally {
        // Nothing reads them any more. The garbage collector would free them late.
        if (readable !== bytes) free(readable);
      }
    };
    const working = run().finally(() => {
      deadline.clear();
      release();
    });
    try {
      return await Promise.race([working, deadline.passed]);
    } catch (error) {
      throw toFault(error);
    }
  }

  // libvips is loaded for the first image: a process that has none saves its memory.
  return {
    brandId: brandIdOf(brand),
    inspect: (bytes, owner, onRendition) =>
      work(bytes, { owner, kind: 'upload' }, 'inspect', async (opening) =>
        (await import('./rendering.ts')).readFacts(opening, onRendition),
      ),
    transform: (bytes, jobs, owner) =>
      work(bytes, { owner }, jobs, async (opening) => (await import('./rendering.ts')).renderAll(opening, jobs)),
    watermark: (bytes, owner) =>
      work(bytes, { owner }, 'watermark', async (opening) => (await import('./rendering.ts')).drawWatermark(opening)),
  };
}

interface Prepared {
  /** Bytes. */
  readonly weight: number;
  /** Returns what libvips reads. */
  read(deadline: Deadline): Promise<Uint8Array>;
}

/** Reads the header. Throws ImageFault for an image that would take too much memory, or as the task does. */
async function prepare(image: Weighed, limits: EngineLimits, task: Task): Promise<Prepared> {
  const deadline = startDeadline(limits.processTimeoutMs);
  try {
    const { weight, read } = await Promise.race([weighImage(image, limits, task, deadline), deadline.passed]);
    const bytes = weight + image.bytes.length;
    if (bytes > memory)
      throw new ImageFault('too_large', 'The image would take too much memory. Use fewer pixels, or another format.');
    return { weight: bytes, read };
  } catch (error) {
    throw toFault(error);
  } finally {
    deadline.clear();
  }
}

async function weighImage(image: Weighed, limits: EngineLimits, task: Task, deadline: Deadline): Promise<Prepared> {
  const { bytes, mime } = image;
  const { weigh, weighTranslated } = await import('./weighing.ts');
  if (isTranslated(mime)) {
    const { weight, maxPixels } = weighTranslated(image, task);
    return { weight, read: (until) => translate({ bytes, mime, maxPixels }, until) };
  }
  const { file, bufferedPixels } = mime === 'image/tiff' ? firstPageOf(bytes) : { file: bytes, bufferedPixels: 0 };
  const { readHeader } = await import('./decoding.ts');
  const header = await readHeader({ bytes: file, limits: limitsOf(mime, limits), deadline });
  return { weight: weigh(image, header, task, bufferedPixels), read: async () => file };
}

/** A decoder of AVIF takes 19 bytes for each pixel, and other decoders 9 or less. */
const mostAvifPixels = 24_000_000;

function limitsOf(mime: ImageMime, limits: EngineLimits): EngineLimits {
  if (mime !== 'image/avif') return limits;
  return { ...limits, maxSourcePixels: Math.min(limits.maxSourcePixels, mostAvifPixels) };
}

/** JPEG files that lack only their end marker, as some cameras, scanners and messengers write them. */

const endMarker = Uint8Array.of(0xff, 0xd9);

/** Whether libvips failed because a JPEG ends early. */
function lacksEnd(error: unknown): boolean {
  return error instanceof Error && error.message.includes('premature end of JPEG');
}

/**
 * Returns the bytes with an end marker in place of zeros or nothing. If scan lines are missing too, the library warns when
 * it meets the marker (`assertWhole`).
 */
function withEndMarker(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  // A zero after 0xff belongs to the image.
  while (length > 1 && bytes[length - 1] === 0 && bytes[length - 2] !== 0xff) length -= 1;
  if (length === bytes.length && bytes[length - 1] === 0xff) length -= 1;
  const whole = new Uint8Array(length + endMarker.length);
  whole.set(bytes.subarray(0, length));
  whole.set(endMarker, length);
  return whole;
}

// The errors of libvips as errors of the engine.

/** libvips throws plain Errors with sentences only, which stay in the cause. Errors of a class are not its own. */
export function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  if (error.message.startsWith('timeout: ')) return new EngineTimeout('stopped by libvips', { cause: error });
  // libvips checks its own limit first for a JPEG with a header longer than an encoder could have made it.
  if (/exceeds pixel limit|Maximum supported image dimension/.test(error.message)) {
    return new ImageFault('too_large', 'The image has too many pixels.', error);
  }
  return new ImageFault('undecodable', 'The image cannot be decoded.', error);
}
