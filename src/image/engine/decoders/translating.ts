/**
 * Decodes pictures that libvips does not support in a thread, and passes them to libvips as TIFF. The thread is
 * terminated at the deadline, and none exists while there is no such picture.
 */
import { Worker } from 'node:worker_threads';
import type { Deadline } from '../deadline.ts';
import { EngineBusy, type ImageMime, PictureFault } from '../engine.ts';
import { firstPageOf } from './firstpage.ts';

export interface Undecoded {
  readonly bytes: Uint8Array;
  readonly mime: ImageMime;
  readonly maxPixels: number;
}

export type Decoded =
  | { readonly file: Uint8Array<ArrayBuffer> }
  | { readonly reason: PictureFault['reason']; readonly message: string }
  | { readonly failure: string };

/** The limit of JavaScript's heap. Pixels are outside of it, and the decoders limit them. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/** Returns bytes that libvips reads. Throws PictureFault, EngineBusy, and EngineTimeout at the deadline. */
export async function translate(picture: Undecoded, deadline: Deadline): Promise<Uint8Array> {
  switch (picture.mime) {
    case 'image/tiff':
      return firstPageOf(picture.bytes);
    case 'image/bmp':
    case 'image/heic':
    case 'image/heif':
      return decodeInThread(picture, deadline);
    default:
      return picture.bytes;
  }
}

async function decodeInThread(picture: Undecoded, deadline: Deadline): Promise<Uint8Array> {
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: picture, resourceLimits });
  try {
    const answered = await Promise.race([answerOf(thread), deadline.passed]);
    if ('file' in answered) return answered.file;
    if ('reason' in answered) throw new PictureFault(answered.reason, answered.message);
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
