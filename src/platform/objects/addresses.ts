/**
 * Signed addresses of files that the edge serves (docs/specification/system.md#signed-read-urls):
 * `{edge}/o/<bucket>/<key>?<terms>&signature=…`. They are bearer secrets: every holder may do what the terms allow until
 * the address expires. Resumable uploads, on any driver, have addresses below `/tus/`. The file driver and the media
 * service sign addresses, and the edge verifies them. All derive the key from the resizing key, so that the edge needs
 * neither state nor a secret of its own.
 */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import { randomHex } from '../ids.ts';

export interface ReadTerms {
  readonly method: 'GET';
  readonly bucket: string;
  readonly key: string;
  /** Unix seconds. */
  readonly expires: number;
  readonly contentType?: string;
  /** The only object that the URL gives access to. */
  readonly etag?: string;
  /** The response is an attachment with this name. `true`: with the name in the URL. */
  readonly download?: string | true;
}

export interface WriteTerms {
  readonly method: 'PUT';
  readonly bucket: string;
  readonly key: string;
  /** Unix seconds. */
  readonly expires: number;
  readonly contentType: string;
  /** In bytes. If it is set, no other length is accepted. */
  readonly size?: number;
  /** In bytes. The edge rejects a longer body. */
  readonly maxSize: number;
}

export interface ResumeTerms {
  readonly method: 'PATCH';
  readonly bucket: string;
  readonly key: string;
  /** Unix seconds. */
  readonly expires: number;
  readonly contentType: string;
  /** Bytes of the whole upload. */
  readonly size: number;
  /** 32 lower-case hex digits, unique. */
  readonly upload: string;
}

export type Terms = ReadTerms | WriteTerms | ResumeTerms;

/** Signs with the secret key of file URLs. */
export type AddressKey = (text: string) => string;

/** `resizingKey`, `resizingSalt`: IMGPROXY_KEY and IMGPROXY_SALT (hex). */
export function deriveAddressKey(resizingKey: string, resizingSalt: string): AddressKey {
  const bytes = hkdfSync(
    'sha256',
    Buffer.from(resizingKey, 'hex'),
    Buffer.from(resizingSalt, 'hex'),
    'atelier file addresses',
    32,
  );
  // A key object takes an eighth of the time of raw bytes, which OpenSSL would read for each signature.
  const key = createSecretKey(new Uint8Array(bytes));
  return (text) => createHmac('sha256', key).update(text).digest('base64url');
}

export function signAddress(baseUrl: string, secret: AddressKey, terms: Terms): string {
  const fields = fieldsOf(terms);
  let query = '';
  for (const [name, value] of fields) query += `${name}=${encodeField(value)}&`;
  const path = `${encodeURIComponent(terms.bucket)}/${encodeSegments(terms.key)}`;
  const signature = signatureOf(secret, terms, fields);
  return `${baseUrl}/${terms.method === 'PATCH' ? 'tus' : 'o'}/${path}?${query}signature=${signature}`;
}

/** Encodes each segment. Most keys need no encoding, and the test for it is cheap. */
export function encodeSegments(path: string): string {
  return /^[\w./~-]*$/.test(path) ? path : path.split('/').map(encodeURIComponent).join('/');
}

/** Encodes a value of a query as `URLSearchParams` does, in a fifth of the time. */
function encodeField(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(/%20|[!'()~]/g, (found) =>
    found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface AddressRequest {
  readonly method: Terms['method'];
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

/** `undefined`: tampered with, malformed or expired; the edge returns 403 for all three. `nowS`: Unix seconds. */
export function verifyAddress(secret: AddressKey, request: AddressRequest, nowS: number): Terms | undefined {
  const terms = readAddress(secret, request);
  return terms !== undefined && terms.expires > nowS ? terms : undefined;
}

/** `undefined`: tampered with or malformed. Does not look at the expiry. */
export function readAddress(secret: AddressKey, request: AddressRequest): Terms | undefined {
  const { method, bucket, key, query } = request;
  const number = (name: string) => (/^\d{1,15}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : undefined);
  const expires = number('expires');
  const contentType = query.get('type') ?? undefined;
  const maxSize = number('max');
  if (expires === undefined) return undefined;
  let terms: Terms;
  if (method === 'GET') {
    const [etag, name] = [query.get('etag') ?? undefined, query.get('download') ?? undefined];
    terms = { method, bucket, key, expires, contentType, etag, download: name === '' ? true : name };
  } else if (method === 'PATCH') {
    const [size, upload] = [number('size'), query.get('upload')];
    if (contentType === undefined || size === undefined || upload === null) return undefined;
    terms = { method, bucket, key, expires, contentType, size, upload };
  } else if (contentType === undefined || maxSize === undefined) return undefined;
  else terms = { method, bucket, key, expires, contentType, size: number('size'), maxSize };
  // No parameter beside the signed ones, and none twice.
  const fields = fieldsOf(terms);
  if (query.size !== fields.length + 1) return undefined;
  // The texts are compared: of the last character's bits, decoding would drop some.
  const given = Buffer.from(query.get('signature') ?? '');
  const right = Buffer.from(signatureOf(secret, terms, fields));
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
  return terms;
}

type Fields = readonly (readonly [name: string, value: string])[];

function fieldsOf(terms: Terms): Fields {
  const fields: [string, string][] = [['expires', String(terms.expires)]];
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined) fields.push([name, String(value)]);
  };
  add('type', terms.contentType);
  if (terms.method === 'GET') {
    add('etag', terms.etag);
    add('download', terms.download === true ? '' : terms.download);
    return fields;
  }
  add('size', terms.size);
  if (terms.method === 'PUT') add('max', terms.maxSize);
  else add('upload', terms.upload);
  return fields;
}

/** Over the method, the place and every term; JSON keeps the parts from running into each other. */
function signatureOf(secret: AddressKey, { method, bucket, key }: Terms, fields: Fields): string {
  return secret(JSON.stringify([method, bucket, key, fields]));
}

/** Returns the bearer address of a resumable upload, for the key and size of its terms alone. By default, of a new one. */
export type UploadSigner = (
  terms: Omit<ResumeTerms, 'method' | 'upload'> & Partial<Pick<ResumeTerms, 'upload'>>,
) => string;

export function resumableSigner(baseUrl: string, secret: AddressKey): UploadSigner {
  return (terms) => signAddress(baseUrl, secret, { upload: randomHex(16), ...terms, method: 'PATCH' });
}
