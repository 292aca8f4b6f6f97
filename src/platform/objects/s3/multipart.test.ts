/** Lists of multipart uploads and of their parts that have several pages, on a real S3 server. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNightly } from '../../../../test/lane.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../../../../test/platform/objects/s3.fixture.ts';
import { systemClock } from '../../clock.ts';
import { mapConcurrently } from '../../concurrency.ts';
import { createS3Client, type S3Client, type S3Place } from './client.ts';
import { initiateMultipart, listMultiparts, listParts, type Multipart, uploadPart } from './multipart.ts';

const contentType = 'video/mp4';
const slow: [number, number][] = isNightly ? [[1001, 1000]] : [];

describe.skipIf(skipWithoutS3)('lists of several pages', () => {
  let place: S3Place;
  let client: S3Client;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const bucket = await openTestBucket();
    client = createS3Client({ ...testServer, clock: systemClock });
    place = { client, bucket: bucket.bucket };
    close = () => client.close().then(bucket.close);
  });
  afterAll(() => close());

  const begin = () => initiateMultipart(place, `u/${randomUUID()}.mp4`, contentType);
  const send = (multipart: Multipart, number: number) =>
    uploadPart(place, multipart, number, Readable.from([Buffer.of(1)]), 1);

  // The last page is full, or has one part.
  test.each<[number, number]>([[4, 2], [5, 2], ...slow])(
    '%d parts in pages of %d are complete and in order',
    { timeout: 120_000 },
    async (count, pageParts) => {
      const multipart = await begin();
      const numbers = Array.from({ length: count }, (_none, at) => at + 1);
      await mapConcurrently(numbers, 8, (number) => send(multipart, number));
      const parts = await listParts(place, multipart, pageParts);
      expect(parts?.map(({ number }) => number)).toEqual(numbers);
    },
  );

  test('a list of uploads continues after the named one', async () => {
    const begun = [await begin(), await begin(), await begin()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const keysAfter = async (after?: Multipart) => {
      const keys: string[] = [];
      for await (const { key } of listMultiparts(place, 'u/', after)) keys.push(key);
      return keys.filter((key) => begun.some((one) => one.key === key));
    };
    expect(await keysAfter()).toEqual(begun.map(({ key }) => key));
    expect(await keysAfter(begun[0])).toEqual(begun.slice(1).map(({ key }) => key));
  });
});
