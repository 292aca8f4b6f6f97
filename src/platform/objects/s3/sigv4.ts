/**
 * AWS Signature Version 4 for S3, in a header or in an address. What stays the same for a second is computed once, so an
 * address costs far less than with the presigner of the AWS SDK (bench/presign.ts).
 */
import { createHash, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export interface SigningOptions {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface SignableRequest {
  readonly method: string;
  /** The path as it is sent (`encodePath`). */
  readonly path: string;
  /** Names in lower case: S3 has no others, and the signature's own, in capitals, come before them. */
  readonly query: Readonly<Record<string, string>>;
  /** All headers to sign, including `host`, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Signer {
  /** The headers to send instead of the request's. `payloadHash`: hex SHA-256 of the body, or `unsignedPayload`. */
  signHeaders(request: SignableRequest, payloadHash: string, nowMs: number): Record<string, string>;
  /** Returns the query to send, a bearer secret for `expiresInS` seconds. Requests must send the headers as signed. */
  presign(request: SignableRequest, expiresInS: number, nowMs: number): string;
}

export const unsignedPayload = 'UNSIGNED-PAYLOAD';
export const emptyPayloadHash = sha256Hex('');

/** What stays the same for one second: the time, the scope, and all that follows from them. */
interface Context {
  readonly second: number;
  /** 20130524T000000Z */
  readonly time: string;
  /** 20130524/us-east-1/s3/aws4_request */
  readonly scope: string;
  /** The signing key of the scope. */
  readonly key: KeyObject;
  /** The signature of a request in its canonical form. */
  readonly sign: (canonical: string) => string;
  /** How the query of every address begins. */
  readonly terms: string;
}

export function createSigner({ accessKeyId, secretAccessKey, region }: SigningOptions): Signer {
  let current: Context | undefined;

  function contextAt(nowMs: number): Context {
    const second = Math.floor(nowMs / 1000);
    if (current?.second === second) return current;
    const time = new Date(second * 1000).toISOString().replace(/[-:]|\.000/g, '');
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const key = current?.scope === scope ? current.key : deriveKey(secretAccessKey, scope);
    const head = `AWS4-HMAC-SHA256\n${time}\n${scope}\n`;
    const sign = (canonical: string) =>
      createHmac('sha256', key)
        .update(head + sha256Hex(canonical))
        .digest('hex');
    const credential = encodeStrictly(`${accessKeyId}/${scope}`);
    const terms = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}&X-Amz-Date=${time}`;
    current = { second, time, scope, key, sign, terms };
    return current;
  }

  return {
    signHeaders: (request, payloadHash, nowMs) => {
      const context = contextAt(nowMs);
      const headers = { ...request.headers, 'x-amz-content-sha256': payloadHash, 'x-amz-date': context.time };
      const { names, lines } = canonicalHeaders(headers);
      const canonical = `${request.method}\n${request.path}\n${encodeQuery(request.query)}\n${lines}\n${names}\n${payloadHash}`;
      const credential = `Credential=${accessKeyId}/${context.scope}`;
      const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${context.sign(canonical)}`;
      return { ...headers, authorization };
    },
    presign: (request, expiresInS, nowMs) => {
      const context = contextAt(nowMs);
      const { names, lines } = canonicalHeaders(request.headers);
      const terms = `${context.terms}&X-Amz-Expires=${expiresInS}&X-Amz-SignedHeaders=${encodeStrictly(names)}`;
      const further = encodeQuery(request.query);
      const query = further === '' ? terms : `${terms}&${further}`;
      const canonical = `${request.method}\n${request.path}\n${query}\n${lines}\n${names}\n${unsignedPayload}`;
      return `${query}&X-Amz-Signature=${context.sign(canonical)}`;
    },
  };
}

/** Encodes a key or path for S3, once: everything but unreserved characters and `/`. */
export function encodePath(path: string): string {
  return /^[\w./~-]*$/.test(path) ? path : path.split('/').map(encodeStrictly).join('/');
}

/** In the order that is signed. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  let encoded = '';
  for (const name of Object.keys(query).sort())
    encoded += `${encoded === '' ? '' : '&'}${encodeStrictly(name)}=${encodeStrictly(query[name] ?? '')}`;
  return encoded;
}

export function sha256Hex(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** S3 follows RFC 3986, which escapes some characters that encodeURIComponent does not. */
function encodeStrictly(text: string): string {
  if (/^[\w.~-]*$/.test(text)) return text;
  const encoded = encodeURIComponent(text);
  if (!/[!'()*]/.test(encoded)) return encoded;
  return encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function canonicalHeaders(headers: Readonly<Record<string, string>>) {
  const names = Object.keys(headers).sort();
  let lines = '';
  for (const name of names) lines += `${name}:${(headers[name] ?? '').trim().replace(/ {2,}/g, ' ')}\n`;
  return { names: names.join(';'), lines };
}

function deriveKey(secretAccessKey: string, scope: string): KeyObject {
  let key = Buffer.from(`AWS4${secretAccessKey}`);
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  return createSecretKey(key);
}

export function md5Base64(bytes: string | Uint8Array): string {
  return createHash('md5').update(bytes).digest('base64');
}
