/** Lists the objects of a bucket. */
import { isSafeKey } from '../keys.ts';
import type { ListedObject } from '../objects.ts';
import { type S3Answer, type S3Client, S3Fault } from './client.ts';
import { readXml, requiredTextOf, textOf, type XmlElement } from './xml.ts';

interface Page {
  readonly objects: readonly ListedObject[];
  readonly next: string | undefined;
}

type Start = Readonly<Record<string, string>>;

/** Reads ListObjectsV2 page by page. Skips keys that are not safe (keys.ts). */
export async function* listS3(
  client: S3Client,
  bucket: string,
  prefix: string,
  after?: string,
): AsyncGenerator<ListedObject> {
  let token: string | undefined;
  do {
    const start: Start =
      token !== undefined ? { 'continuation-token': token } : after !== undefined ? { 'start-after': after } : {};
    const page = await readPage(client, bucket, prefix, start);
    yield* page.objects;
    if (page.next !== undefined && page.next === token)
      throw new Error('the S3 server returns the same page of a list again');
    token = page.next;
  } while (token !== undefined);
}

async function readPage(client: S3Client, bucket: string, prefix: string, start: Start): Promise<Page> {
  const query = {
    'list-type': '2',
    // XML cannot represent every character.
    'encoding-type': 'url',
    prefix,
    ...start,
  };
  try {
    return await client.call({ method: 'GET', bucket, query, repeat: 'always' }, pageOf);
  } catch (error) {
    // A missing bucket is an empty one.
    if (error instanceof S3Fault && error.status === 404) return { objects: [], next: undefined };
    throw error;
  }
}

async function pageOf(answer: S3Answer): Promise<Page> {
  const result = readXml(await answer.body.text());
  if (result.name !== 'ListBucketResult')
    throw new Error(`the S3 server responded to a list request with ${result.name}`);
  const isEncoded = textOf(result, 'EncodingType') === 'url';
  const objects = result.children
    .filter((child) => child.name === 'Contents')
    .map((entry) => listedObject(entry, isEncoded))
    .filter((object) => isSafeKey(object.key));
  const isCut = textOf(result, 'IsTruncated') === 'true';
  const next = isCut ? requiredTextOf(result, 'NextContinuationToken') : undefined;
  return { objects, next };
}

function listedObject(entry: XmlElement, isEncoded: boolean): ListedObject {
  const key = requiredTextOf(entry, 'Key');
  const etag = requiredTextOf(entry, 'ETag');
  return {
    key: isEncoded ? decodeURIComponent(key.replaceAll('+', ' ')) : key,
    size: Number(requiredTextOf(entry, 'Size')),
    etag: etag.startsWith('"') ? etag : `"${etag}"`,
    modifiedAt: new Date(requiredTextOf(entry, 'LastModified')),
  };
}
