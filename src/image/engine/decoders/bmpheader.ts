/** Reads the headers of a BMP file: the file header, one of the information headers, masks, palette and profile. */
import { ImageFault } from '../engine.ts';

export interface BmpHeader {
  readonly width: number;
  readonly height: number;
  readonly isTopDown: boolean;
  /** Bits per pixel. */
  readonly bits: number;
  readonly coding: 'plain' | 'runs';
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
/** OS/2 1: sizes of 16 bits, palettes of three bytes. */
const coreBytes = 12;
/** The header of OS/2 2 has 16 to 64 bytes, that of Windows 40, 52, 56, 108 or 124. */
const [shortestBytes, windowsBytes, version2Bytes, version3Bytes, os2Bytes, version5Bytes] = [16, 40, 52, 56, 64, 124];
/** `biCompression`; 3 and 4 have another meaning in OS/2. */
const [plain, runs8, runs4, bitFields, runs24, alphaFields] = [0, 1, 2, 3, 4, 6];
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
  if (!isLength(length) || bytes.length < at + length) throw damaged();
  const isCore = length === coreBytes;
  /** Fields that a shorter header omits are 0. */
  const word = (offset: number) => (offset + 4 <= length ? view.getUint32(at + offset, true) : 0);
  const width = isCore ? view.getUint16(at + 4, true) : view.getInt32(at + 4, true);
  const declared = isCore ? view.getUint16(at + 6, true) : view.getInt32(at + 8, true);
  const bits = view.getUint16(at + (isCore ? 10 : 14), true);
  const compression = isCore ? plain : word(16);
  const isOs2 = length < windowsBytes || length === os2Bytes;
  const height = Math.abs(declared);
  if (width <= 0 || height === 0) throw damaged();
  const isTopDown = declared < 0;

  const coding = codingOf(compression, bits, isOs2);
  if (coding === 'runs' && isTopDown) throw damaged();
  const hasFields = coding === 'plain' && compression !== plain;
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
  const entryBytes = isCore ? 3 : 4;
  const palette = bits > 8 ? new Uint8Array(0) : readPalette(bytes, paletteAt, entryBytes, word(32) || 2 ** bits);
  const paletteEnd = paletteAt + (palette.length / 3) * entryBytes;
  // Some writers omit the offset, or give that of the palette although the pixels follow it.
  const plainBytes = Math.ceil((width * bits) / 32) * 4 * (height - 1) + Math.ceil((width * bits) / 8);
  const isBeyondPalette =
    pixelsAtTold >= paletteEnd || (pixelsAtTold > 0 && (coding === 'runs' || paletteEnd + plainBytes > bytes.length));
  return {
    width,
    height,
    isTopDown,
    bits,
    coding,
    masks,
    palette,
    pixelsAt: isBeyondPalette ? pixelsAtTold : paletteEnd,
    profile:
      length === version5Bytes && word(56) === embeddedProfile ? profileAt(bytes, word(112), word(116)) : undefined,
  };
}

function isLength(length: number): boolean {
  return (
    length === coreBytes ||
    (length >= shortestBytes && length <= os2Bytes) ||
    length === 108 ||
    length === version5Bytes
  );
}

/** Throws ImageFault. */
function codingOf(compression: number, bits: number, isOs2: boolean): BmpHeader['coding'] {
  if (compression === plain && depths.includes(bits)) return 'plain';
  if ((compression === runs8 && bits === 8) || (compression === runs4 && bits === 4)) return 'runs';
  if (isOs2 && compression === runs24 && bits === 24) return 'runs';
  if (!isOs2 && (compression === bitFields || compression === alphaFields) && (bits === 16 || bits === 32))
    return 'plain';
  throw new ImageFault('unsupported', 'The compression of this BMP is not supported.');
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

/** At most 256 entries, and no more than the file has. */
function readPalette(bytes: Uint8Array, at: number, entryBytes: number, declared: number): Uint8Array {
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

function damaged(): ImageFault {
  return new ImageFault('undecodable', 'The header of the BMP is damaged.');
}
