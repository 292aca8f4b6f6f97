/** How a resized image is delivered: for how long, and under which name. Does not change the image. */
import { attachment } from '#platform/objects/disposition.ts';
import { invalid } from '#platform/problem.ts';

export interface Delivery {
  /** Any text, by which a client gets another URL. */
  readonly buster?: string;
  /** Unix time in seconds. `undefined`: it does not expire. */
  readonly expiresAtS?: number | undefined;
  readonly fileName?: string | undefined;
  readonly isAttachment?: boolean;
}

export function readExpiry(time: string, path: string): number | undefined {
  if (time === '') return undefined;
  if (!/^\d{1,12}$/.test(time)) throw invalid(path, 'must be a Unix time in seconds');
  return Number(time) || undefined;
}

/** Percent-encoded, or base64url with a flag after it. */
export function readFileName([written = '', encoded = '']: readonly string[], path: string): string | undefined {
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
