/** imgproxy's options by their names, and what each of them requests (docs/specification/image.md#options). */
import { center, compassPoints, type Edits, type Gravity, type Trim, type Watermark } from '#image/engine/edits.ts';
import { formats, longestRequestedSide, resamplings, strongestBlur, type VariantSpec } from '#image/engine/specs.ts';
import { attachment } from '#platform/objects/disposition.ts';
import { invalid } from '#platform/problem.ts';

// Reads the arguments of imgproxy's options. Each function throws a 400 at `path`.

function readSide(value: string, path: string): number {
  return readInteger(value, longestRequestedSide, path);
}

function readInteger(value: string, max: number, path: string): number {
  if (!/^\d{1,16}$/.test(value) || Number(value) > max) throw invalid(path, `must be a whole number from 0 to ${max}`);
  return Number(value);
}

function readDecimal(value: string, least: number, most: number, path: string): number {
  if (!/^-?\d{1,7}(\.\d{1,20})?$/.test(value) || Number(value) < least || Number(value) > most)
    throw invalid(path, `must be a number from ${least} to ${most}`);
  // Without the sign of zero.
  return Number(value) + 0;
}

const largestFactor = 100;

function readFactor(value: string, path: string): number {
  const factor = readDecimal(value, 0, largestFactor, path);
  if (factor === 0) throw invalid(path, 'must be greater than 0');
  return factor;
}

/** Accepts the spellings of Go's ParseBool. */
function readFlag(value: string, path: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false;
  throw invalid(path, 'must be 0 or 1');
}

export function readOneOf<T extends string>(allowed: readonly T[], value: string, path: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw invalid(path, `must be one of ${allowed.join(', ')}`);
  return found;
}

/** Returns `#rrggbb`. */
function readColor(value: string, path: string): string {
  if (!/^([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)) throw invalid(path, 'must be a color in hex, such as ff8800');
  const digits = value.toLowerCase();
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`;
}

/** `type:x:y`. `isForCuts`: the most interesting part can be meant. */
function readGravity(args: readonly string[], path: string, isForCuts: boolean): Gravity {
  const [type = '', x = '', y = ''] = args;
  if (args.length > 3) throw invalid(path, 'has too many arguments');
  if (type === 'sm' && isForCuts) return { type, x: 0, y: 0 };
  if (type === 'fp') return { type, x: readDecimal(x || '0', 0, 1, path), y: readDecimal(y || '0', 0, 1, path) };
  const allowed = [...compassPoints, 'fp', ...(isForCuts ? ['sm'] : [])];
  const point = compassPoints.find((one) => one === type);
  if (point === undefined) throw invalid(path, `must have a gravity of ${allowed.join(', ')}`);
  const most = longestRequestedSide;
  return { type: point, x: readDecimal(x || '0', -most, most, path), y: readDecimal(y || '0', -most, most, path) };
}

/** A crop without a gravity of its own has that of the whole request. */
type RequestedCrop = Omit<NonNullable<Edits['crop']>, 'gravity'> & { readonly gravity?: Gravity };
type RequestedEdits = Partial<Omit<Edits, 'crop'>> & { readonly crop?: RequestedCrop | undefined };

/** What one option requests. */
export interface Requested {
  readonly spec?: VariantSpec;
  readonly edits?: RequestedEdits;
  /** By format. */
  readonly formatQuality?: Readonly<Record<string, number>>;
  readonly delivery?: Delivery;
}

type Reader = (args: readonly string[], path: string) => Requested;

const strongestSharpening = 10;
const largestThreshold = 255;

/** With the number of arguments, and all names. */
const declared: readonly (readonly [names: string, most: number, read: Reader])[] = [
  ['rs resize', 8, ([type = '', ...size], path) => ({ ...merge(readType(type, path), readSize(size, path)) })],
  ['s size', 7, readSize],
  ['rt resizing_type', 1, ([type = ''], path) => readType(type, path)],
  ['ra resizing_algorithm', 1, ([name = ''], path) => ({ spec: { resampling: readOneOf(resamplings, name, path) } })],
  ['w width', 1, ([width = ''], path) => ({ spec: { width: readSide(width, path) } })],
  ['h height', 1, ([height = ''], path) => ({ spec: { height: readSide(height, path) } })],
  ['dpr', 1, ([dpr = ''], path) => ({ edits: { dpr: readFactor(dpr, path) } })],
  ['el enlarge', 1, ([enlarge = ''], path) => ({ spec: { enlarge: readFlag(enlarge, path) } })],
  ['ex extend', 4, (args, path) => ({ edits: { extend: readExtension(args, path) } })],
  ['g gravity', 3, (args, path) => ({ edits: { gravity: readGravity(args, path, true) } })],
  ['c crop', 5, readCrop],
  ['t trim', 4, (args, path) => ({ edits: { trim: readTrim(args, path) } })],
  ['pd padding', 4, readPadding],
  ['ar auto_rotate', 1, ([flag = ''], path) => ({ edits: { autoRotate: readFlag(flag, path) } })],
  ['rot rotate', 1, readRotation],
  ['fl flip', 2, readFlips],
  ['bg background', 3, (args, path) => ({ edits: { background: readBackground(args, path) } })],
  ['bl blur', 1, ([sigma = ''], path) => ({ spec: { blur: readDecimal(sigma, 0, strongestBlur, path) } })],
  ['sh sharpen', 1, ([sigma = ''], path) => ({ edits: { sharpen: readSharpening(sigma, path) } })],
  ['wm watermark', 5, (args, path) => ({ edits: { watermark: readWatermark(args, path) } })],
  ['q quality', 1, ([quality = ''], path) => ({ spec: { quality: readInteger(quality, 100, path) || undefined } })],
  ['fq format_quality', 20, readFormatQuality],
  [
    'mb max_bytes',
    1,
    ([bytes = ''], path) => ({ spec: { maxBytes: readInteger(bytes, Number.MAX_SAFE_INTEGER, path) } }),
  ],
  ['f format ext', 1, ([format = ''], path) => ({ spec: { format: readOneOf(formats, format, path) } })],
  ['cb cachebuster', 1, ([buster = '']) => ({ delivery: { buster } })],
  ['exp expires', 1, ([time = ''], path) => ({ delivery: { expiresAtS: readExpiry(time, path) } })],
  ['fn filename', 2, (args, path) => ({ delivery: { fileName: readFileName(args, path) } })],
  ['att return_attachment', 1, ([flag = ''], path) => ({ delivery: { isAttachment: readFlag(flag, path) } })],
  ['sm strip_metadata', 1, only(true, 'metadata is always removed')],
  ['scp strip_color_profile', 1, only(true, 'colors are always converted to sRGB')],
  ['kcr keep_copyright', 1, only(false, 'metadata is always removed')],
  ['eth enforce_thumbnail', 1, only(false, 'embedded thumbnails are not used')],
  ['raw', 1, only(false, 'the source is not served by these URLs')],
];

const readers = new Map(
  declared.flatMap(([names, most, read]) => names.split(' ').map((name) => [name, { most, read }] as const)),
);

/** Throws a 400 that names the option. */
export function readOption(name: string, args: readonly string[]): Requested {
  const path = `options.${name}`;
  const reader = readers.get(name);
  if (reader === undefined) throw invalid(path, 'is not an option of this service');
  if (args.length > reader.most) throw invalid(path, `takes at most ${reader.most} arguments`);
  return reader.read(args, path);
}

/** The second one counts. */
export function merge(first: Requested, second: Requested): Requested {
  return {
    spec: { ...first.spec, ...second.spec },
    edits: { ...first.edits, ...second.edits },
    formatQuality: { ...first.formatQuality, ...second.formatQuality },
    delivery: { ...first.delivery, ...second.delivery },
  };
}

/** Options by which a client can state what this service does in any case. */
function only(value: boolean, reason: string): Reader {
  return ([flag = ''], path) => {
    if (readFlag(flag, path) !== value) throw invalid(path, `must be ${value ? 1 : 0}: ${reason}`);
    return {};
  };
}

const types = ['fit', 'fill', 'fill-down', 'force', 'auto'] as const;

/** Empty arguments of the two meta-options leave what was requested before. */
function readType(type: string, path: string): Requested {
  if (type === '') return {};
  const named = readOneOf(types, type, path);
  const resizingType = named === 'force' ? 'fit' : named === 'fill-down' ? 'fill' : named;
  return { spec: { resizingType }, edits: { force: named === 'force' } };
}

/** `width:height:enlarge:extend`, and the arguments of `extend` that follow. */
function readSize([width = '', height = '', enlarge = '', ...extend]: readonly string[], path: string): Requested {
  return {
    spec: {
      ...(width === '' ? {} : { width: readSide(width, path) }),
      ...(height === '' ? {} : { height: readSide(height, path) }),
      ...(enlarge === '' ? {} : { enlarge: readFlag(enlarge, path) }),
    },
    edits: extend[0] === undefined || extend[0] === '' ? {} : { extend: readExtension(extend, path) },
  };
}

function readExtension([flag = '', ...gravity]: readonly string[], path: string): Gravity | undefined {
  if (!readFlag(flag, path)) return undefined;
  return gravity.length === 0 ? center : readGravity(gravity, path, false);
}

const largestCrop = 1_000_000;

function readCrop([width = '', height = '', ...gravity]: readonly string[], path: string): Requested {
  const crop = {
    width: readDecimal(width || '0', 0, largestCrop, path),
    height: readDecimal(height || '0', 0, largestCrop, path),
    ...(gravity.length > 0 && { gravity: readGravity(gravity, path, true) }),
  };
  return { edits: { crop: crop.width === 0 && crop.height === 0 ? undefined : crop } };
}

function readTrim([threshold = '', color = '', x = '', y = '']: readonly string[], path: string): Trim {
  return {
    threshold: readDecimal(threshold, 0, largestThreshold, path),
    color: color === '' ? undefined : readColor(color, path),
    isEqualX: x !== '' && readFlag(x, path),
    isEqualY: y !== '' && readFlag(y, path),
  };
}

/** As in CSS: a side that is left out is as wide as the one opposite, or as the top. */
function readPadding([first = '', ...others]: readonly string[], path: string): Requested {
  const sideOr = (value: string | undefined, other: number) => (value ? readSide(value, path) : other);
  const top = sideOr(first, 0);
  const right = sideOr(others[0], top);
  const padding = { top, right, bottom: sideOr(others[1], top), left: sideOr(others[2], right) };
  const isEmpty = Object.values(padding).every((side) => side === 0);
  return { edits: { padding: isEmpty ? undefined : padding } };
}

const angles = [0, 90, 180, 270] as const;

function readRotation([angle = '']: readonly string[], path: string): Requested {
  const turned = readInteger(angle, 100_000, path) % 360;
  const rotate = angles.find((each) => each === turned);
  if (rotate === undefined) throw invalid(path, 'must be a multiple of 90');
  return { edits: { rotate } };
}

function readFlips([x = '', y = '']: readonly string[], path: string): Requested {
  return { edits: { flipX: x !== '' && readFlag(x, path), flipY: y !== '' && readFlag(y, path) } };
}

function readBackground(args: readonly string[], path: string): string | undefined {
  if (args.length === 3) {
    const hex = args.map((level) => readInteger(level, 255, path).toString(16).padStart(2, '0'));
    return `#${hex.join('')}`;
  }
  if (args.length === 2) throw invalid(path, 'takes one color in hex, or three levels');
  return args[0] ? readColor(args[0], path) : undefined;
}

/** The library sharpens with no less. */
const weakestSharpening = 0.01;

function readSharpening(value: string, path: string): number {
  const sigma = readDecimal(value, 0, strongestSharpening, path);
  return sigma === 0 ? 0 : Math.max(weakestSharpening, sigma);
}

function readWatermark(args: readonly string[], path: string): Watermark | undefined {
  const [opacity = '', position = '', x = '', y = '', scale = ''] = args;
  const shown = readDecimal(opacity, 0, 1, path);
  if (shown === 0) return undefined;
  return {
    opacity: shown,
    position: position === '' ? 'ce' : readOneOf([...compassPoints, 're'] as const, position, path),
    x: readDecimal(x || '0', -10_000, 10_000, path),
    y: readDecimal(y || '0', -10_000, 10_000, path),
    scale: readDecimal(scale || '0', 0, 1, path),
  };
}

/** Pairs of a format and its quality. Formats that are never produced are accepted. */
function readFormatQuality(args: readonly string[], path: string): Requested {
  const formatQuality: Record<string, number> = {};
  for (let at = 0; at < args.length; at += 2) {
    const [format = '', quality = ''] = args.slice(at, at + 2);
    if (!/^[a-z0-9]{1,10}$/.test(format)) throw invalid(path, 'must be pairs of a format and a quality');
    formatQuality[format === 'jpg' ? 'jpeg' : format] = readInteger(quality, 100, path);
  }
  return { formatQuality };
}

// How a resized image is delivered: for how long, and under which name. Does not change the image.

export interface Delivery {
  /** Any text, by which a client gets another URL. */
  readonly buster?: string;
  /** Unix time in seconds. `undefined`: it does not expire. */
  readonly expiresAtS?: number | undefined;
  readonly fileName?: string | undefined;
  readonly isAttachment?: boolean;
}

function readExpiry(time: string, path: string): number | undefined {
  if (time === '') return undefined;
  if (!/^\d{1,12}$/.test(time)) throw invalid(path, 'must be a Unix time in seconds');
  return Number(time) || undefined;
}

/** Percent-encoded, or base64url with a flag after it. */
function readFileName([written = '', encoded = '']: readonly string[], path: string): string | undefined {
  if (written === '') return undefined;
  const name = ['1', 't', 'true'].includes(encoded)
    ? Buffer.from(written, 'base64url').toString()
    : decodeName(written, path);
  if (!/^[^\p{Cc}\p{Cs}/\\]{1,255}$/u.test(name))
    throw invalid(path, 'must be 1 to 255 characters without control characters, / and \\');
  return name;
}

function decodeName(written: string, path: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    throw invalid(path, 'is not percent-encoded');
  }
}

/** `undefined`: browsers decide. The extension is that of the result. */
export function dispositionOf(
  { fileName, isAttachment }: Delivery,
  key: string,
  extension: string,
): string | undefined {
  if (fileName === undefined && isAttachment !== true) return undefined;
  const base = fileName ?? key.slice(key.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
  const name = base.endsWith(`.${extension}`) ? base : `${base}.${extension}`;
  const header = attachment(name);
  return isAttachment === true ? header : header.replace(/^attachment/, 'inline');
}

/** Long enough to save work, short enough for a deletion to take effect. */
const longestKeptS = 3600;

/** `undefined`: it has expired. */
export function cacheSecondsOf({ expiresAtS }: Delivery, nowMs: number): number | undefined {
  if (expiresAtS === undefined) return longestKeptS;
  const leftS = Math.floor(expiresAtS - nowMs / 1000);
  return leftS < 0 ? undefined : Math.min(longestKeptS, leftS);
}
