/** Reads the headers of a BMP file: the file header, one of the information headers, masks, palette and profile. */
import { ImageFault } from '../engine.ts';

export interface BmpHeader {
  readonly width: number;
  readonly height: number;
  readonly isTopDown: boolean;
  /** Bits per pixel. */
  readonly bits: number;
  /** For 16 and 32 bits per pixel. */
  readonly masks: Masks | undefined;
  /** Red, green and blue of each entry. */
  readonly palette: Uint8Array;
  /** The offset of the pixels. */
  readonly pixelsAt: number;
  /** ICC. */
  readonly profile: Uint8Array | undefined;
}

interface Masks {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number | undefined;
}

const fileHeaderBytes = 14;
/** The shortest header of OS/2. Such files are refused. */
const coreBytes = 12;
const windowsLengths = [40, 52, 56, 108, 124];
const [windowsBytes, version2Bytes, version3Bytes, version5Bytes] = [40, 52, 56, 124];
/** `biCompression`. */
const [plain, bitFields, alphaFields] = [0, 3, 6];
const depths: readonly number[] = [1, 2, 4, 8, 16, 24, 32];
const defaultMasks = {
  16: { red: 0x7c00, green: 0x3e0, blue: 0x1f, alpha: undefined },
  32: undefined,
} as const;
/** `MBED`. */
const embeddedProfile = 0x4d42_4544;
const longestProfile = 4 * 1024 * 1024;

/** Returns whether a file with this beginning is a BMP. Two letters alone can begin any text. */
export function isBmp(beginning: Uint8Array): boolean {
  if (beginning[0] !== 0x42 || beginning[1] !== 0x4d || beginning.length < fileHeaderBytes + 4) return false;
  const size = viewOf(beginning).getUint32(fileHeaderBytes, true);
  return size >= coreBytes && size <= version5Bytes;
}

/** Throws ImageFault. */
export function readBmpHeader(bytes: Uint8Array): BmpHeader {
  const view = viewOf(bytes);
  const at = fileHeaderBytes;
  const length = bytes.length >= at + 4 ? view.getUint32(at, true) : 0;
  if (bytes.length < at + length) throw damaged();
  if (!windowsLengths.includes(length)) throw unsupported();
  const word = (offset: number) => view.getUint32(at + offset, true);
  const width = view.getInt32(at + 4, true);
  const declared = view.getInt32(at + 8, true);
  const bits = view.getUint16(at + 14, true);
  const compression = word(16);
  const height = Math.abs(declared);
  if (width <= 0 || height === 0) throw damaged();
  const isTopDown = declared < 0;

  const hasFields = compression === bitFields || compression === alphaFields;
  if (hasFields ? bits !== 16 && bits !== 32 : compression !== plain || !depths.includes(bits)) throw unsupported();
  // The masks follow a header of version 1, and are part of later ones.
  const behind = hasFields && length < version2Bytes ? (compression === alphaFields ? 16 : 12) : 0;
  const paletteAt = at + length + behind;
  if (paletteAt > bytes.length) throw damaged();
  const masks = hasFields
    ? readMasks(view, at + windowsBytes, compression === alphaFields || length >= version3Bytes)
    : bits === 16
      ? defaultMasks[16]
      : undefined;
  const pixelsAtTold = view.getUint32(10, true);
  const palette = bits > 8 ? new Uint8Array(0) : readPalette(bytes, paletteAt, word(32) || 2 ** bits);
  const paletteEnd = paletteAt + (palette.length / 3) * entryBytes;
  // Some writers omit the offset, or give that of the palette although the pixels follow it.
  const plainBytes = Math.ceil((width * bits) / 32) * 4 * (height - 1) + Math.ceil((width * bits) / 8);
  const isBeyondPalette = pixelsAtTold >= paletteEnd || (pixelsAtTold > 0 && paletteEnd + plainBytes > bytes.length);
  return {
    width,
    height,
    isTopDown,
    bits,
    masks,
    palette,
    pixelsAt: isBeyondPalette ? pixelsAtTold : paletteEnd,
    profile:
      length === version5Bytes && word(56) === embeddedProfile ? profileAt(bytes, word(112), word(116)) : undefined,
  };
}

/** Throws ImageFault. */
function readMasks(view: DataView, at: number, hasAlpha: boolean): Masks {
  if (at + 16 > view.byteLength) throw damaged();
  const [red, green, blue] = [view.getUint32(at, true), view.getUint32(at + 4, true), view.getUint32(at + 8, true)];
  const alpha = hasAlpha ? view.getUint32(at + 12, true) : 0;
  for (const mask of [red, green, blue, alpha]) {
    // The bits must be contiguous.
    const low = mask === 0 ? 0 : mask >>> (31 - Math.clz32(mask & -mask));
    if ((low & (low + 1)) !== 0) throw damaged();
  }
  return { red, green, blue, alpha: alpha === 0 ? undefined : alpha };
}

const entryBytes = 4;

/** At most 256 entries, and no more than the file has. */
function readPalette(bytes: Uint8Array, at: number, declared: number): Uint8Array {
  const count = Math.min(declared, 256, Math.floor((bytes.length - at) / entryBytes));
  const palette = new Uint8Array(count * 3);
  for (let index = 0; index < count; index++) {
    const entry = at + index * entryBytes;
    palette.set([bytes[entry + 2] ?? 0, bytes[entry + 1] ?? 0, bytes[entry] ?? 0], index * 3);
  }
  return palette;
}

/** Relative to the information header. */
function profileAt(bytes: Uint8Array, offset: number, length: number): Uint8Array | undefined {
  const at = fileHeaderBytes + offset;
  return length > 0 && length <= longestProfile && at + length <= bytes.length
    ? bytes.subarray(at, at + length)
    : undefined;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function unsupported(): ImageFault {
  return new ImageFault('unsupported', 'This kind of BMP is not supported.');
}

function damaged(): ImageFault {
  return new ImageFault('undecodable', 'The header of the BMP is damaged.');
}
