/** A real S3 server for tests, configured by the environment. Without one its suites are skipped, or fail in CI. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '#platform/clock.ts';
import { createS3Client } from '#platform/objects/s3/client.ts';
import { openS3Store } from '#platform/objects/s3/s3.ts';
import { listed } from './objects.fixture.ts';

const { S3_TEST_ENDPOINT, S3_TEST_REGION, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY, CI } = process.env;

export const skipWithoutS3 = !S3_TEST_ENDPOINT && CI !== 'true';

export const testServer = {
  endpoint: S3_TEST_ENDPOINT || 'http://127.0.0.1:1',
  region: S3_TEST_REGION || 'us-east-1',
  accessKeyId: S3_TEST_ACCESS_KEY_ID ?? '',
  secretAccessKey: S3_TEST_SECRET_ACCESS_KEY ?? '',
};

/** Creates a bucket. `close` removes it with its contents. */
export async function openTestBucket(options: { readonly isPublic?: boolean } = {}) {
  const bucket = `test-${randomUUID()}`;
  const store = openS3Store({ ...testServer, clock: systemClock });
  await store.create(bucket, { isPublic: options.isPublic ?? false });
  return { store, bucket, objects: store.bucket(bucket), close: () => dropBucket(bucket).then(() => store.close()) };
}

export async function dropBucket(bucket: string): Promise<void> {
  const store = openS3Store({ ...testServer, clock: systemClock });
  const client = createS3Client({ ...testServer, clock: systemClock });
  const objects = store.bucket(bucket);
  let after: string | undefined;
  do {
    const before = new Date(Date.now() + 3_600_000);
    after = (await objects.resumable.sweep({ before, apply: true, after, limit: 1000 })).next;
  } while (after !== undefined);
  await objects.remove((await listed(objects, '')).map(({ key }) => key));
  await client.call({ method: 'DELETE', bucket, repeat: 'always' }, (answer) => answer.body.dump());
  await Promise.all([client.close(), store.close()]);
}
