/** `Content-Disposition` of downloads (RFC 6266). */

/** Browsers differ in how they read these characters in a quoted file name, so only `filename*` has them. */
const unsafe = /[^\x20-\x7e]|["\\%]/gu;
/** The characters that RFC 8187 requires to be escaped, and that encodeURIComponent leaves as they are. */
const unescaped = /['()*]/g;

/**
 * Returns the value of the header. `name` must not contain control characters or lone surrogates. `true`: the browser
 * takes the name from the URL.
 */
export function attachment(name: string | true): string {
  if (name === true) return 'attachment';
  const escaped = encodeURIComponent(name).replace(
    unescaped,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${name.replace(unsafe, '_')}"; filename*=UTF-8''${escaped}`;
}
