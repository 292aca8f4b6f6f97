/**
 * Decodes images that libvips does not support in a thread, and passes them to libvips as TIFF. The thread is
 * terminated at the deadline, and none exists while there is no such image.
 */
import { Worker } from 'node:worker_threads';
import type { Deadline } from '../deadline.ts';
import { EngineBusy, ImageFault, type ImageMime } from '../engine.ts';

export interface Undecoded {
  readonly bytes: Uint8Array;
  readonly mime: ImageMime;
  readonly maxPixels: number;
}

export type Decoded =
  | { readonly file: Uint8Array<ArrayBuffer> }
  | { readonly reason: ImageFault['reason']; readonly message: string }
  | { readonly failure: string };

/** The limit of JavaScript's heap. Pixels are outside of it, and the decoders limit them. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/** Whether a thread decodes it. */
export const isTranslated = (mime: ImageMime): boolean => ['image/bmp', 'image/heic', 'image/heif'].includes(mime);

/** Returns bytes that libvips reads. Throws ImageFault, EngineBusy, and EngineTimeout at the deadline. */
export async function translate(image: Undecoded, deadline: Deadline): Promise<Uint8Array<ArrayBuffer>> {
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: image, resourceLimits });
  try {
    const answered = await Promise.race([answerOf(thread), deadline.passed]);
    if ('file' in answered) return answered.file;
    if ('reason' in answered) throw new ImageFault(answered.reason, answered.message);
    throw new EngineBusy(`a decoder failed: ${answered.failure}`);
  } finally {
    await thread.terminate();
  }
}

function answerOf(thread: Worker): Promise<Decoded> {
  const { promise, resolve } = Promise.withResolvers<Decoded>();
  thread.once('message', resolve);
  thread.once('error', (error) => resolve({ failure: error.message }));
  thread.once('exit', (code) => resolve({ failure: `it ended with ${code}` }));
  return promise;
}
