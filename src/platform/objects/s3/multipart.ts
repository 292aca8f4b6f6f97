/** S3's multipart uploads: parts that become one object at the end. All parts but the last have at least 5 MiB. */
import type { Readable } from 'node:stream';
import { escapeXml } from '../../escaping.ts';
import { ObjectExists } from '../objects.ts';
import {
  absentOn404,
  decodedKey,
  drop,
  encodedKeys,
  listPages,
  readDocument,
  S3Fault,
  type S3Place,
} from './client.ts';
import { requiredTextOf, textOf, type XmlElement } from './xml.ts';

export interface Multipart {
  readonly key: string;
  readonly uploadId: string;
}

export interface Part {
  readonly number: number;
  readonly etag: string;
  readonly size: number;
  /** Known of listed parts. */
  readonly storedAt?: Date;
}

/** The slowest completion that does not count as an outage. */
const joinedBytesPerS = 50 * 1024 ** 2;

export function initiateMultipart({ client, bucket }: S3Place, key: string, contentType: string): Promise<Multipart> {
  const headers = { 'content-type': contentType };
  // If a response is lost, a repeat leaves an upload without parts, which a sweep aborts.
  const request = { method: 'POST', bucket, key, query: { uploads: '' }, headers, repeat: 'always' } as const;
  return client.call(request, async (answer) => ({
    key,
    uploadId: requiredTextOf(await readDocument(answer), 'UploadId'),
  }));
}

/** Replaces a part of the same number. Returns `undefined` if the upload was completed or aborted. */
export function uploadPart(
  { client, bucket }: S3Place,
  { key, uploadId }: Multipart,
  number: number,
  body: Readable,
  size: number,
): Promise<Part | undefined> {
  const query = { partNumber: String(number), uploadId };
  return client
    .call({ method: 'PUT', bucket, key, query, body, size, repeat: 'never' }, async ({ headers, body: answer }) => {
      await answer.dump();
      const { etag } = headers;
      if (typeof etag !== 'string') throw new Error('the S3 server responded to a part without an ETag');
      return { number, etag, size };
    })
    .catch(absentOn404);
}

/** Returns the parts in order, or `undefined` if the upload was completed or aborted. */
export async function listParts(
  place: S3Place,
  { key, uploadId }: Multipart,
  pageParts = 1000,
): Promise<readonly Part[] | undefined> {
  let parts: Part[] | undefined;
  const pages = listPages(place, {
    key,
    query: { uploadId, 'max-parts': String(pageParts) },
    start: { 'part-number-marker': '0' },
    itemsOf: (page) => page.children.filter(({ name }) => name === 'Part').map(partOf),
    next: (page) => ({ 'part-number-marker': requiredTextOf(page, 'NextPartNumberMarker') }),
  });
  for await (const page of pages) parts = [...(parts ?? []), ...page];
  return parts;
}

const partOf = (part: XmlElement): Part => ({
  number: Number(requiredTextOf(part, 'PartNumber')),
  etag: requiredTextOf(part, 'ETag'),
  size: Number(requiredTextOf(part, 'Size')),
  storedAt: new Date(requiredTextOf(part, 'LastModified')),
});

/**
 * Creates the object. Some servers ignore the condition and replace an object, so the caller must check first. `gone`: the
 * upload was completed or aborted. Throws ObjectExists.
 */
export async function completeMultipart(
  { client, bucket }: S3Place,
  { key, uploadId }: Multipart,
  parts: readonly Part[],
): Promise<'completed' | 'gone'> {
  const body = Buffer.from(
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.map(partXml).join('')}</CompleteMultipartUpload>`,
  );
  const moreTimeMs = (parts.reduce((sum, { size }) => sum + size, 0) / joinedBytesPerS) * 1000;
  const attempt = (condition: Readonly<Record<string, string>>) => {
    const headers = { 'content-type': 'application/xml', ...condition };
    const request = { method: 'POST', bucket, key, query: { uploadId }, headers, body, moreTimeMs } as const;
    return client.call({ ...request, repeat: 'refused' }, async (answer) => {
      const result = await readDocument(answer);
      // A completion that fails late does so after the status has been sent.
      if (result.name !== 'CompleteMultipartUploadResult') throw new S3Fault(500, textOf(result, 'Code'));
    });
  };
  try {
    await attempt({ 'if-none-match': '*' }).catch((error: unknown) => {
      if (!(error instanceof S3Fault) || error.status !== 501) throw error;
      return attempt({});
    });
    return 'completed';
  } catch (error) {
    if (error instanceof S3Fault && error.status === 404) return 'gone';
    if (error instanceof S3Fault && error.status === 412) throw new ObjectExists(key);
    throw error;
  }
}

const partXml = ({ number, etag }: Part) =>
  `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`;

/** Does nothing if the upload was completed or aborted. */
export async function abortMultipart({ client, bucket }: S3Place, { key, uploadId }: Multipart): Promise<void> {
  const request = { method: 'DELETE', bucket, key, query: { uploadId }, repeat: 'always' } as const;
  await client.call(request, drop).catch(absentOn404);
}

/** Lists the uploads in progress whose keys begin with `prefix`, those that follow `after`. */
export async function* listMultiparts(
  place: S3Place,
  prefix: string,
  after?: Multipart,
): AsyncGenerator<Multipart & { readonly initiatedAt: Date }> {
  const pages = listPages(place, {
    query: { uploads: '', ...encodedKeys, prefix },
    start: after ? markersOf(after) : {},
    itemsOf: (page) =>
      page.children
        .filter(({ name }) => name === 'Upload')
        .map((upload) => ({
          key: decodedKey(page, requiredTextOf(upload, 'Key')),
          uploadId: requiredTextOf(upload, 'UploadId'),
          initiatedAt: new Date(requiredTextOf(upload, 'Initiated')),
        })),
    next: (page) =>
      markersOf({
        key: decodedKey(page, requiredTextOf(page, 'NextKeyMarker')),
        uploadId: requiredTextOf(page, 'NextUploadIdMarker'),
      }),
  });
  for await (const uploads of pages) yield* uploads;
}

const markersOf = ({ key, uploadId }: Multipart) => ({ 'key-marker': key, 'upload-id-marker': uploadId });
