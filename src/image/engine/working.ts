/** The engine with its permits, deadline and faults. */
import { readMark } from '#platform/metadata/metadata.ts';
import { type Brand, brandIdOf, defaultBrand } from './brand.ts';
import { startDeadline } from './deadline.ts';
import { isTranslated, translate } from './decoders/translating.ts';
import type { Opening } from './decoding.ts';
import { lacksEnd, withEndMarker } from './endmarker.ts';
import type { Engine, EngineLimits, ImageMime } from './engine.ts';
import { toFault } from './faults.ts';
import { type Claim, createPermits } from './permits.ts';
import { recognizeFormat } from './sniffing.ts';
import type { Task, Weighed } from './weighing.ts';

const MiB = 1024 * 1024;
/** Of all images that are processed at once. One that takes more is processed alone. */
const memory = 400 * MiB;

/** One per process. The permits limit the memory of all services together. */
export function createEngine(limits: EngineLimits, brand: Brand = defaultBrand): Engine {
  const { concurrency: count, permitWaitMs: waitMs } = limits;
  const permits = createPermits({ count, waitMs, memory });
  /** Headers are read before the memory of their images is known. */
  const headers = createPermits({ count, waitMs });

  /** Responds at the deadline. The permit is held until the library has released the image. */
  async function work<Result>(
    bytes: Uint8Array,
    claim: Claim,
    task: Task,
    job: (opening: Opening) => Promise<Result>,
  ): Promise<Result> {
    const mime = await recognizeFormat(bytes);
    const mark = readMark(bytes);
    const size = await weighOf({ bytes, mime, maxPixels: limits.maxSourcePixels }, task, claim);
    const release = await permits.acquire({ ...claim, bytes: size });
    const deadline = startDeadline(limits.processTimeoutMs);
    const run = async () => {
      const readable = await translate({ bytes, mime, maxPixels: limits.maxSourcePixels }, deadline);
      const opening = { bytes: readable, mime, limits: limitsOf(mime, limits), deadline, brand, mark };
      try {
        return await job(opening);
      } catch (error) {
        if (mime !== 'image/jpeg' || !lacksEnd(error)) throw error;
        const ended = { ...opening, bytes: withEndMarker(readable) };
        await (await import('./decoding.ts')).assertWhole(ended);
        return await job(ended);
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

  async function weighOf(image: Weighed, task: Task, claim: Claim): Promise<number> {
    const release = await headers.acquire(claim);
    try {
      return await weighImage(image, limits, task);
    } catch (error) {
      throw toFault(error);
    } finally {
      release();
    }
  }

  // libvips is loaded for the first image: a process that has none saves its memory.
  return {
    brandId: brandIdOf(brand),
    inspect: (bytes, owner) =>
      work(bytes, { owner, kind: 'upload' }, 'inspect', async (opening) =>
        (await import('./inspecting.ts')).readFacts(opening),
      ),
    transform: (bytes, jobs, owner) =>
      work(bytes, { owner }, jobs, async (opening) => (await import('./rendering.ts')).renderAll(opening, jobs)),
    watermark: (bytes, owner) =>
      work(bytes, { owner }, 'watermark', async (opening) =>
        (await import('./watermarking.ts')).drawWatermark(opening),
      ),
  };
}

async function weighImage(image: Weighed, limits: EngineLimits, task: Task): Promise<number> {
  const { bytes, mime, maxPixels } = image;
  const { weigh, weighTranslation } = await import('./weighing.ts');
  if (isTranslated(mime)) return weighTranslation(image);
  const { readHeader } = await import('./decoding.ts');
  const deadline = startDeadline(limits.processTimeoutMs);
  const reading = (async () => {
    const readable = await translate(image, deadline);
    return readHeader({ bytes: readable, mime, limits: limitsOf(mime, limits), deadline });
  })();
  try {
    const header = await Promise.race([reading, deadline.passed]);
    return weigh({ bytes, mime, maxPixels }, header, task);
  } finally {
    deadline.clear();
  }
}

/** A decoder of AVIF takes 18 bytes for each pixel, and other decoders 9 or less. */
const mostAvifPixels = 24_000_000;

function limitsOf(mime: ImageMime, limits: EngineLimits): EngineLimits {
  if (mime !== 'image/avif') return limits;
  return { ...limits, maxSourcePixels: Math.min(limits.maxSourcePixels, mostAvifPixels) };
}
