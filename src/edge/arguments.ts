/** Reads the arguments of imgproxy's options. Each function throws a 400 at `path`. */
import { compassPoints, type Gravity } from '#image/engine/edits.ts';
import { longestRequestedSide } from '#image/engine/specs.ts';
import { invalid } from '#platform/problem.ts';

export function readSide(value: string, path: string): number {
  return readInteger(value, longestRequestedSide, path);
}

export function readInteger(value: string, max: number, path: string): number {
  if (!/^\d{1,16}$/.test(value) || Number(value) > max) throw invalid(path, `must be a whole number from 0 to ${max}`);
  return Number(value);
}

export function readDecimal(value: string, least: number, most: number, path: string): number {
  if (!/^-?\d{1,7}(\.\d{1,20})?$/.test(value) || Number(value) < least || Number(value) > most)
    throw invalid(path, `must be a number from ${least} to ${most}`);
  // Without the sign of zero.
  return Number(value) + 0;
}

const largestFactor = 100;

export function readFactor(value: string, path: string): number {
  const factor = readDecimal(value, 0, largestFactor, path);
  if (factor === 0) throw invalid(path, 'must be greater than 0');
  return factor;
}

/** Accepts the spellings of Go's ParseBool. */
export function readFlag(value: string, path: string): boolean {
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
export function readColor(value: string, path: string): string {
  if (!/^([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)) throw invalid(path, 'must be a color in hex, such as ff8800');
  const digits = value.toLowerCase();
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`;
}

/** `type:x:y`. `isForCuts`: the most interesting part can be meant. */
export function readGravity(args: readonly string[], path: string, isForCuts: boolean): Gravity {
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
