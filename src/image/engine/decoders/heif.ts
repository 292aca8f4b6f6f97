/**
 * Decodes HEIC and HEIF with libheif and libde265 in WebAssembly (libheif-js). Runs in a decoder thread only. Uses the
 * C interface directly, because only it gives access to color profiles and to limits.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ImageFault } from '../engine.ts';
import { createCanvas } from './canvas.ts';
import { decoderBytes } from './heifsize.ts';

/** The part of libheif's C interface that is used here. Pointers are numbers. Errors are written to `error`. */
interface Libheif {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _heif_context_alloc(): number;
  _heif_context_set_maximum_image_size_limit(context: number, side: number): void;
  _heif_context_read_from_memory_without_copy(
    error: number,
    context: number,
    bytes: number,
    length: number,
    options: number,
  ): void;
  _heif_context_has_sequence(context: number): number;
  _heif_context_get_track(context: number, id: number): number;
  _heif_track_get_image_resolution(error: number, track: number, width: number, height: number): void;
  _heif_track_decode_next_image(
    error: number,
    track: number,
    image: number,
    colorspace: number,
    chroma: number,
    options: number,
  ): void;
  _heif_context_get_primary_image_handle(error: number, context: number, handle: number): void;
  _heif_image_handle_get_width(handle: number): number;
  _heif_image_handle_get_height(handle: number): number;
  _heif_image_handle_has_alpha_channel(handle: number): number;
  _heif_image_handle_is_premultiplied_alpha(handle: number): number;
  _heif_image_handle_get_raw_color_profile_size(handle: number): number;
  _heif_image_handle_get_raw_color_profile(error: number, handle: number, bytes: number): void;
  _heif_decode_image(
    error: number,
    handle: number,
    image: number,
    colorspace: number,
    chroma: number,
    options: number,
  ): void;
  _heif_image_get_width(image: number, channel: number): number;
  _heif_image_get_height(image: number, channel: number): number;
  _heif_image_get_plane_readonly2(image: number, channel: number, stride: number): number;
}

interface Instance {
  readonly exports: Readonly<Record<string, unknown>>;
}

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** TypeScript declares it for browsers only. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (code: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => Instance;
    readonly Memory: new (...given: never) => Memory;
  };
};

type OpenLibheif = (options: {
  instantiateWasm(imports: object, done: (instance: Instance) => void): object;
  print(text: string): void;
  printErr(text: string): void;
}) => Promise<Libheif>;

const require = createRequire(import.meta.url);
const okay = 0;
const unsupported: readonly number[] = [3, 4, 11];
const outOfMemory = 6;
const colorspaceRgb = 1;
const [chromaRgb, chromaRgba] = [10, 11];
const interleaved = 10;
const errorBytes = 16;

const longestProfile = 4 * 1024 * 1024;
const pageBytes = 65_536;

/**
 * Returns the primary image, or the first frame of a sequence: upright (`irot`, `imir` and `clap` applied), 8 bits
 * per channel, with its color profile. Throws ImageFault.
 */
export async function decodeHeif(bytes: Uint8Array, maxPixels: number): Promise<Uint8Array<ArrayBuffer>> {
  const calls = await openCalls(decoderBytes(bytes, maxPixels));
  const { lib, call, allocate } = calls;
  const file = allocate(bytes.length);
  lib.HEAPU8.set(bytes, file);
  const context = lib._heif_context_alloc();
  lib._heif_context_set_maximum_image_size_limit(context, Math.ceil(Math.sqrt(maxPixels)));
  call((error) => lib._heif_context_read_from_memory_without_copy(error, context, file, bytes.length, 0));
  const frame = openPrimary(calls, context) ?? openTrack(calls, context);
  if (frame.width * frame.height > maxPixels) throw tooLarge();

  const channels = frame.hasAlpha ? 4 : 3;
  const image = frame.decode(frame.hasAlpha ? chromaRgba : chromaRgb);
  // The headers may differ from this.
  const width = lib._heif_image_get_width(image, interleaved);
  const height = lib._heif_image_get_height(image, interleaved);
  if (width < 1 || height < 1) throw undecodable();
  if (width * height > maxPixels) throw tooLarge();
  const { isPremultiplied, profile } = frame;
  const canvas = createCanvas({ width, height, channels, isPremultiplied, profile });
  const [plane, stride] = calls.planeOf(image);
  const rowBytes = width * channels;
  for (let row = 0; row < height; row++) {
    const at = plane + row * stride;
    canvas.pixels.set(lib.HEAPU8.subarray(at, at + rowBytes), row * rowBytes);
  }
  return canvas.file;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly hasAlpha: boolean;
  readonly isPremultiplied: boolean;
  readonly profile: Uint8Array | undefined;
  /** A pointer to the image. */
  decode(chroma: number): number;
}

/** `undefined`: the file has none. */
function openPrimary({ lib, call, allocate }: Calls, context: number): Frame | undefined {
  let handle: number;
  try {
    handle = call((error, result) => lib._heif_context_get_primary_image_handle(error, context, result));
  } catch (error) {
    if (lib._heif_context_has_sequence(context) === 0) throw error;
    return undefined;
  }
  const hasAlpha = lib._heif_image_handle_has_alpha_channel(handle) !== 0;
  const length = lib._heif_image_handle_get_raw_color_profile_size(handle);
  let profile: Uint8Array | undefined;
  if (length > 0 && length <= longestProfile) {
    const at = allocate(length);
    call((error) => lib._heif_image_handle_get_raw_color_profile(error, handle, at));
    profile = lib.HEAPU8.slice(at, at + length);
  }
  return {
    width: lib._heif_image_handle_get_width(handle),
    height: lib._heif_image_handle_get_height(handle),
    hasAlpha,
    isPremultiplied: hasAlpha && lib._heif_image_handle_is_premultiplied_alpha(handle) !== 0,
    profile,
    decode: (chroma) =>
      call((error, result) => lib._heif_decode_image(error, handle, result, colorspaceRgb, chroma, 0)),
  };
}

/** The first visual track. Throws ImageFault. */
function openTrack({ lib, call }: Calls, context: number): Frame {
  const track = lib._heif_context_get_track(context, 0);
  if (track === 0) throw undecodable();
  const size = call((error, result) => lib._heif_track_get_image_resolution(error, track, result, result + 2));
  return {
    width: size & 0xffff,
    height: size >>> 16,
    hasAlpha: false,
    isPremultiplied: false,
    profile: undefined,
    decode: (chroma) =>
      call((error, result) => lib._heif_track_decode_next_image(error, track, result, colorspaceRgb, chroma, 0)),
  };
}

/** Calls the library. */
interface Calls {
  readonly lib: Libheif;
  /** Returns what the call wrote to `result`. Throws ImageFault, or an error if this machine lacks memory. */
  call(work: (error: number, result: number) => void): number;
  /** Returns a pointer to bytes that exist as long as the thread. */
  allocate(bytes: number): number;
  /** Pointer and stride, in bytes. */
  planeOf(image: number): readonly [number, number];
}

async function openCalls(memoryBytes: number): Promise<Calls> {
  const memory = { limit: memoryBytes, isDenied: false };
  const lib = await openLibheif(memory);
  const [error, result] = [lib._malloc(errorBytes), lib._malloc(errorBytes)];
  const number = (pointer: number) => new DataView(lib.HEAPU8.buffer).getUint32(pointer, true);
  /** `cause`: the library's message, or the trap. */
  const faultOf = (cause: unknown, code?: number) => {
    // This machine has no memory left, which is not the image's fault.
    if (memory.isDenied) return new Error('no memory for libheif', { cause });
    if (code === outOfMemory) return tooLarge(cause);
    return code !== undefined && unsupported.includes(code)
      ? new ImageFault('unsupported', 'The HEIF file contains no image that can be decoded.', cause)
      : undecodable(cause);
  };
  return {
    lib,
    call: (work) => {
      try {
        work(error, result);
      } catch (cause) {
        throw faultOf(cause);
      }
      const code = number(error);
      if (code !== okay) throw faultOf(new Error(`libheif: ${code}/${number(error + 4)}`), code);
      return number(result);
    },
    allocate: (bytes) => {
      const pointer = lib._malloc(bytes);
      if (pointer === 0) throw faultOf(undefined, outOfMemory);
      return pointer;
    },
    planeOf: (image) => [lib._heif_image_get_plane_readonly2(image, interleaved, result), number(result)],
  };
}

/** A worker's limits do not cover WebAssembly memory, so growth is refused here. */
async function openLibheif(memory: { readonly limit: number; isDenied: boolean }): Promise<Libheif> {
  const open: OpenLibheif = require('libheif-js/libheif-wasm/libheif.js');
  const code = await readFile(require.resolve('libheif-js/libheif-wasm/libheif.wasm'));
  const silent = () => undefined;
  return open({
    print: silent,
    printErr: silent,
    instantiateWasm: (imports, done) => {
      const instance = new WebAssembly.Instance(new WebAssembly.Module(code), imports);
      for (const exported of Object.values(instance.exports)) {
        if (!(exported instanceof WebAssembly.Memory)) continue;
        const grow = exported.grow.bind(exported);
        exported.grow = (pages) => {
          if (exported.buffer.byteLength + pages * pageBytes > memory.limit)
            throw new RangeError('the image needs too much memory');
          // Emscripten first requests more than it needs. Only its last attempt counts.
          memory.isDenied = true;
          const before = grow(pages);
          memory.isDenied = false;
          return before;
        };
      }
      done(instance);
      return instance.exports;
    },
  });
}

function undecodable(cause?: unknown): ImageFault {
  return new ImageFault('undecodable', 'The image cannot be decoded.', cause);
}

function tooLarge(cause?: unknown): ImageFault {
  return new ImageFault('too_large', 'The image has too many pixels.', cause);
}
