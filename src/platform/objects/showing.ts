/**
 * Decides which files a browser may show in a tab. It saves all others, because a page that a user uploads would run as
 * one of our host.
 */

/**
 * Images, audio, video and plain text, except XML and SVG types. A type with a comma is not shown, because browsers split
 * the header there and use the last type.
 */
const shown = /^(?:(?:image|audio|video)\/(?![\w.+-]*(?:xml|svg))[\w.+-]+|text\/plain)(?: *;[^,]*)?$/i;

export function mayShowInline(contentType: string | undefined): boolean {
  return contentType !== undefined && shown.test(contentType);
}
