/** The CORS rules of a bucket, which decide whose pages may use a signed URL in a browser. */
import { drop, readDocument, type S3Client, S3Fault } from './client.ts';
import { md5Base64 } from './sigv4.ts';
import type { XmlElement } from './xml.ts';

/** The origins whose pages may upload, and those whose pages may read. */
export interface CorsOrigins {
  readonly write: readonly string[];
  readonly read: readonly string[];
}

/** Returns `undefined` if the server does not report its rules, or if the key may not read them. */
export async function readCorsOrigins(client: S3Client, bucket: string): Promise<CorsOrigins | undefined> {
  try {
    return await client.call({ method: 'GET', bucket, query: { cors: '' }, repeat: 'always' }, async (response) => {
      const rules = childrenOf(await readDocument(response), 'CORSRule');
      const originsFor = (method: string) => [
        ...new Set(
          rules
            .filter((rule) => childrenOf(rule, 'AllowedMethod').some(({ text }) => text === method))
            .flatMap((rule) => childrenOf(rule, 'AllowedOrigin').map(({ text }) => text)),
        ),
      ];
      return { write: originsFor('PUT'), read: originsFor('GET') };
    });
  } catch (error) {
    if (!(error instanceof S3Fault)) throw error;
    return error.code === 'NoSuchCORSConfiguration' ? { write: [], read: [] } : undefined;
  }
}

const childrenOf = ({ children }: XmlElement, name: string) => children.filter((child) => child.name === name);

/** Allows any origin, as the edge does: the signed URL is the secret, so any page that has one may use it. */
const rules = `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><CORSRule><AllowedOrigin>*</AllowedOrigin>${[
  'GET',
  'HEAD',
  'PUT',
]
  .map((method) => `<AllowedMethod>${method}</AllowedMethod>`)
  .join('')}<AllowedHeader>*</AllowedHeader>${['ETag', 'Content-Range', 'Accept-Ranges', 'Content-Length']
  .map((name) => `<ExposeHeader>${name}</ExposeHeader>`)
  .join('')}<MaxAgeSeconds>3600</MaxAgeSeconds></CORSRule></CORSConfiguration>`;

/** Does nothing if the server does not support CORS rules. */
export async function allowAnyOrigin(client: S3Client, bucket: string): Promise<void> {
  const body = Buffer.from(rules);
  const headers = { 'content-md5': md5Base64(body) };
  try {
    await client.call({ method: 'PUT', bucket, query: { cors: '' }, headers, body, repeat: 'always' }, drop);
  } catch (error) {
    if (!(error instanceof S3Fault)) throw error;
  }
}

export function describeOrigins(origins: CorsOrigins | undefined): string {
  if (origins === undefined) return 'the server does not return its CORS rules';
  const { write, read } = origins;
  if (write.length === 0 && read.length === 0) return 'no page can upload or read, because there is no CORS rule';
  if (write.length === 0) return `no page can upload; pages of ${nameOrigins(read)} can read`;
  return `pages of ${nameOrigins(write)} can upload`;
}

const maxNamed = 5;

function nameOrigins(origins: readonly string[]): string {
  if (origins.includes('*')) return 'any origin';
  const more = origins.length - maxNamed;
  return origins.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export const isClosedToBrowsers = (origins: CorsOrigins | undefined): boolean => origins?.write.length === 0;
