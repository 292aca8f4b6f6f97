/** Which files a browser may show in a tab. It saves all others, since a page of a user's making would run as one of our host. */

/**
 * Images, audio, video and plain text, without an XML or SVG type among them. A type that is missing or unreadable is
 * saved. A comma is refused: browsers split the header there and use the last type.
 */
const shown = /^(?:(?:image|audio|video)\/(?![\w.+-]*(?:xml|svg))[\w.+-]+|text\/plain)(?: *;[^,]*)?$/i;

export function mayShowInline(contentType: string | undefined): boolean {
  return contentType !== undefined && shown.test(contentType);
}
