/** How assets are named by callers: by a UUID, or by a path in the legacy backend (docs/specification/media.md#fields). */
import { isSafeKey } from '#platform/objects/keys.ts';

export { isUuid } from '#platform/ids.ts';

/** Contains `/`, and is no trick: no `..`, empty or absolute segments (docs/specification/media.md#fields). */
export function isLegacyPath(ref: string): boolean {
  return ref.includes('/') && isSafeKey(ref);
}

/** The beginning of legacy paths; it may end in `/`, and is never empty, which would mean everything. */
export function isLegacyPrefix(prefix: string): boolean {
  // Below a folder there has to be room for a name.
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
