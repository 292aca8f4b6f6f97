/** The errors of libvips as errors of the engine. */
import { EngineTimeout, ImageFault } from './engine.ts';

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
