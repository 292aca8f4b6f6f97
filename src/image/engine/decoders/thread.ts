/** A decoder thread decodes one image and ends. State and damage of a decoder end with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { ImageFault } from '../engine.ts';
import type { Decoded, Undecoded } from './translating.ts';

const { bytes, mime, maxPixels } = workerData as Undecoded;

async function decode(): Promise<Uint8Array<ArrayBuffer>> {
  // Loaded when needed, because each has one or two megabytes of code.
  if (mime === 'image/bmp') return (await import('./bmp.ts')).decodeBmp(bytes, maxPixels);
  return (await import('./heif.ts')).decodeHeif(bytes, maxPixels);
}

async function answer(): Promise<Decoded> {
  try {
    return { file: await decode() };
  } catch (error) {
    if (error instanceof ImageFault) return { reason: error.reason, message: error.message };
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

const answered = await answer();
parentPort?.postMessage(answered, 'file' in answered ? [answered.file.buffer] : []);
