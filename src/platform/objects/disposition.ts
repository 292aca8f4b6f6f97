/** `Content-Disposition` of downloads (RFC 6266). */

/** Characters of a quoted file name that every browser reads alike; others appear in `filename*` only. */
const unsafe = /[^\x20-\x7e]|["\\%]/gu;
/** What encodeURIComponent leaves bare and RFC 8187 does not. */
const unescaped = /['()*]/g;

/** `name` holds no control characters and no lone surrogates; `true`: the browser takes the name from the URL. */
export function attachment(name: string | true): string {
  if (name === true) return 'attachment';
  const escaped = encodeURIComponent(name).replace(
    unescaped,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${name.replace(unsafe, '_')}"; filename*=UTF-8''${escaped}`;
}
