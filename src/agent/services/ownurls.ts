/** Recognizes URLs that the media service has signed: clients send them back in messages. */

/** A storage key within the path of a signed URL (docs/specification/media.md#storage-keys). */
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const storageKey = new RegExp(`/u/${uuid}/[A-Za-z0-9_-]{1,64}/[A-Za-z0-9_-]{1,128}/(${uuid})[.]`);
/** Longer than any signed URL. */
const maxUrlLength = 8192;

/** `bases`: where the edge, the object store and imgproxy serve files. The function returns the asset's id. */
export function createOwnUrls(bases: readonly string[]): (url: string) => string | undefined {
  const hosts = bases.filter((base) => URL.canParse(base)).map((base) => new URL(base).host);
  return (text) => {
    if (text.length > maxUrlLength || !/^https?:/i.test(text) || !URL.canParse(text)) return undefined;
    const { host, pathname } = new URL(text);
    // A bucket may be a subdomain of the object store.
    if (!hosts.some((own) => host === own || host.endsWith(`.${own}`))) return undefined;
    return storageKey.exec(decodePath(pathname))?.[1];
  };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
