/** The engine with its permits, deadline and faults. */
import { readMark } from '#platform/metadata/metadata.ts';
import { type Brand, brandIdOf, defaultBrand } from './brand.ts';
import { startDeadline } from './deadline.ts';
import { translate } from './decoders/translating.ts';
import type { Opening } from './decoding.ts';
import { lacksEnd, withEndMarker } from './endmarker.ts';
import type { Engine, EngineLimits, ImageMime } from './engine.ts';
import { toFault } from './faults.ts';
import { type Claim, createPermits } from './permits.ts';
import { recognizeFormat } from './sniffing.ts';

/** One per process. The permits limit the memory of all services together. */
export function createEngine(limits: EngineLimits, brand: Brand = defaultBrand): Engine {
  const permits = createPermits({ count: limits.concurrency, waitMs: limits.permitWaitMs });

  /** Responds at the deadline. The permit is held until the library has released the image. */
  async function work<Result>(
    bytes: Uint8Array,
    claim: Claim,
    job: (opening: Opening) => Promise<Result>,
  ): Promise<Result> {
    const mime = await recognizeFormat(bytes);
    const mark = readMark(bytes);
    const release = await permits.acquire(claim);
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

  // libvips is loaded for the first image: a process that has none saves its memory.
  return {
    brandId: brandIdOf(brand),
    inspect: (bytes, owner) =>
      work(bytes, { owner, kind: 'upload' }, async (opening) => (await import('./inspecting.ts')).readFacts(opening)),
    transform: (bytes, jobs, owner) =>
      work(bytes, { owner }, async (opening) => (await import('./rendering.ts')).renderAll(opening, jobs)),
    watermark: (bytes, owner) =>
      work(bytes, { owner }, async (opening) => (await import('./watermarking.ts')).drawWatermark(opening)),
  };
}

/** A decoder of AVIF takes 18 bytes for each pixel, and other decoders 9 or less. */
const mostAvifPixels = 24_000_000;

function limitsOf(mime: ImageMime, limits: EngineLimits): EngineLimits {
  if (mime !== 'image/avif') return limits;
  return { ...limits, maxSourcePixels: Math.min(limits.maxSourcePixels, mostAvifPixels) };
}
