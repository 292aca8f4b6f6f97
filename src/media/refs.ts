/** References to assets: a UUID, or a path in the legacy backend (docs/specification/media.md#fields). */
import { isSafeKey } from '#platform/objects/objects.ts';

/** Contains `/`, but no `..`, empty or absolute segments (docs/specification/media.md#fields). */
export function isLegacyPath(ref: string): boolean {
  return ref.includes('/') && isSafeKey(ref);
}

/** A prefix of legacy paths. It can end in `/`, and is never empty, which would mean all files. */
export function isLegacyPrefix(prefix: string): boolean {
  // A folder must leave room for a name.
  return prefix.endsWith('/') ? isSafeKey(prefix.slice(0, -1)) && isSafeKey(`${prefix}x`) : isSafeKey(prefix);
}

/**
 * The thumbnail of a legacy video, by convention: `video_<name>.mp4` has `vc_<name>.jpg` in the same folder
 * (docs/specification/media.md#signing). `undefined`: another name.
 */
export function thumbPathOf(path: string): string | undefined {
  const [, folder, name] = /^(.*\/)?video_([^/]*)\.mp4$/.exec(path) ?? [];
  return name === undefined ? undefined : `${folder ?? ''}vc_${name}.jpg`;
}
