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

// Decides which files a browser may show in a tab. It saves all others, because a page that a user uploads would run as one of our host.

/**
 * Images, audio, video and plain text, except XML and SVG types. A type with a comma is not shown, because browsers split
 * the header there and use the last type.
 */
const shown = /^(?:(?:image|audio|video)\/(?![\w.+-]*(?:xml|svg))[\w.+-]+|text\/plain)(?: *;[^,]*)?$/i;

export function mayShowInline(contentType: string | undefined): boolean {
  return contentType !== undefined && shown.test(contentType);
}
