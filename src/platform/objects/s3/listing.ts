/** Reads lists of an S3 server page by page. */
import { isDeepStrictEqual } from 'node:util';
import { absentOn404, readDocument, type S3Answer, type S3Client } from './client.ts';
import { textOf, type XmlElement } from './xml.ts';

export interface S3Place {
  readonly client: S3Client;
  readonly bucket: string;
}

type Query = Readonly<Record<string, string>>;

interface List<Item> {
  /** Of a list that belongs to an object. */
  readonly key?: string;
  readonly query: Query;
  /** Added to the query of the first page. */
  readonly start: Query;
  readonly itemsOf: (page: XmlElement) => readonly Item[];
  /** Returns what is added to the query of the page that follows. */
  readonly next: (page: XmlElement) => Query;
}

/** Yields the items of each page, and no page if the bucket or the object does not exist. */
export async function* listPages<Item>(
  { client, bucket }: S3Place,
  { key, query, start, itemsOf, next }: List<Item>,
): AsyncGenerator<readonly Item[]> {
  const read = async (answer: S3Answer) => {
    const page = await readDocument(answer);
    const following = textOf(page, 'IsTruncated') === 'true' ? next(page) : undefined;
    return { items: itemsOf(page), following };
  };
  const readPage = (from: Query) =>
    client
      .call({ method: 'GET', bucket, key, query: { ...query, ...from }, repeat: 'always' }, read)
      .catch(absentOn404);
  for (let from: Query | undefined = start; from !== undefined; ) {
    const page = await readPage(from);
    if (page === undefined) return;
    yield page.items;
    if (isDeepStrictEqual(page.following, from)) throw new Error('the S3 server returns the same page of a list again');
    from = page.following;
  }
}

/** Asks for encoded keys, because XML cannot represent every character. */
export const encodedKeys = { 'encoding-type': 'url' };

/** Decodes a key of the page, if the server encoded it. */
export const decodedKey = (page: XmlElement, key: string): string =>
  textOf(page, 'EncodingType') === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
