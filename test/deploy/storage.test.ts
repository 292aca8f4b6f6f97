/** Applies the files of deploy/storage to a real S3 server, and checks that the product needs exactly what they allow. */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { createS3Client } from '#platform/objects/s3/client.ts';
import { root } from '../acceptance/running.fixture.ts';
import { listed } from '../platform/objects/objects.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';

interface CorsRule {
  readonly AllowedOrigins: readonly string[];
  readonly AllowedMethods: readonly string[];
  readonly AllowedHeaders: readonly string[];
  readonly ExposeHeaders: readonly string[];
  readonly MaxAgeSeconds: number;
}
interface Policy {
  readonly Statement: readonly { readonly Action: string | readonly string[]; readonly Resource: string | string[] }[];
}

const read = async <T>(name: string): Promise<T> =>
  JSON.parse(await readFile(join(root, 'deploy/storage', name), 'utf8'));
const { CORSRules } = await read<{ readonly CORSRules: readonly CorsRule[] }>('cors.json');
const access = await read<Policy>('access.json');
const actions = access.Statement.flatMap(({ Action }) => Action);

/** The other actions of Amazon S3 on a bucket and its objects, except for those that change its policy. */
const others = `AbortMultipartUpload CreateBucket DeleteBucket DeleteBucketWebsite DeleteObject DeleteObjectTagging
  DeleteObjectVersion DeleteObjectVersionTagging GetAccelerateConfiguration GetBucketAcl GetBucketCORS GetBucketLocation
  GetBucketLogging GetBucketNotification GetBucketPolicy GetBucketRequestPayment GetBucketTagging
  GetBucketVersioning GetBucketWebsite GetLifecycleConfiguration GetObject GetObjectAcl
  GetObjectLegalHold GetObjectRetention GetObjectTagging GetObjectTorrent GetObjectVersion GetObjectVersionAcl
  GetObjectVersionTagging GetReplicationConfiguration ListBucket ListBucketMultipartUploads ListBucketVersions
  ListMultipartUploadParts PutAccelerateConfiguration PutBucketAcl PutBucketCORS PutBucketLogging PutBucketNotification
  PutBucketRequestPayment PutBucketTagging PutBucketVersioning PutBucketWebsite
  PutLifecycleConfiguration PutObject PutObjectAcl PutObjectLegalHold PutObjectRetention
  PutObjectTagging PutObjectVersionAcl PutObjectVersionTagging PutReplicationConfiguration RestoreObject`
  .split(/\s+/)
  .map((name) => `s3:${name}`)
  .filter((action) => !actions.includes(action));

const element = (name: string, values: readonly (string | number)[]) =>
  values.map((value) => `<${name}>${value}</${name}>`).join('');
/** The request of `aws s3api put-bucket-cors`. */
const corsXml = `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${CORSRules.map(
  (rule) =>
    `<CORSRule>${element('AllowedOrigin', rule.AllowedOrigins)}${element('AllowedMethod', rule.AllowedMethods)}${element('AllowedHeader', rule.AllowedHeaders)}${element('ExposeHeader', rule.ExposeHeaders)}${element('MaxAgeSeconds', [rule.MaxAgeSeconds])}</CORSRule>`,
).join('')}</CORSConfiguration>`;

const contentType = 'image/png';
type TestBucket = Awaited<ReturnType<typeof openTestBucket>>;

it('has the same CORS rules for the API and for the dashboard of R2', async () => {
  expect(await read('cors-r2.json')).toEqual(CORSRules);
});

it('names the same two buckets in both policies', async () => {
  const { Statement } = await read<Policy>('public-read.json');
  const named = [...Statement, ...access.Statement].flatMap(({ Resource }) => Resource);
  const buckets = named.map((arn) => /^arn:aws:s3:::([\w-]+)(?:\/\*)?$/.exec(arn)?.[1]);
  expect([...new Set(buckets)].sort()).toEqual(['example-originals', 'example-variants']);
});

describe.skipIf(skipWithoutS3)('on a real S3 server', () => {
  const client = createS3Client({ ...testServer, clock: systemClock });
  let originals: TestBucket;
  let variants: TestBucket;
  beforeAll(async () => {
    [originals, variants] = await Promise.all([openTestBucket(), openTestBucket()]);
  });
  afterAll(() => Promise.all([originals.close(), variants.close(), client.close()]));

  async function configure(bucket: string, query: 'cors' | 'policy', text: string): Promise<void> {
    const body = Buffer.from(text);
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
    const request = { method: 'PUT', bucket, query: { [query]: '' }, headers, body, repeat: 'always' } as const;
    await client.call(request, (answer) => answer.body.dump());
  }

  it('allows pages of the named origins to upload with a signed URL and read the client’s headers', async () => {
    const { bucket, store, objects } = originals;
    await configure(bucket, 'cors', corsXml);
    const { AllowedOrigins, ExposeHeaders } = CORSRules[0] as CorsRule;
    const { write, read: readers } = (await store.corsOrigins(bucket)) ?? { write: [], read: [] };
    expect([write.toSorted(), readers.toSorted()]).toEqual([AllowedOrigins.toSorted(), AllowedOrigins.toSorted()]);
    await store.probeCreateOnly(bucket);
    const { url, headers } = objects.writeAddress('page.png', { expiresInS: 60, contentType, size: 3, maxSize: 3 });
    const names = Object.keys({ ...headers, 'If-None-Match': '*' }).map((name) => name.toLowerCase());
    const preflight = (origin: string) =>
      fetch(url, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': names.sort().join(','),
        },
      });
    for (const origin of AllowedOrigins) {
      const key = `${new URL(origin).hostname}.png`;
      const allowed = await preflight(origin);
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
      const sent = await fetch(objects.writeAddress(key, { expiresInS: 60, contentType, maxSize: 3 }).url, {
        method: 'PUT',
        headers: { ...headers, origin },
        body: 'png',
      });
      expect(sent.status).toBe(200);
      const range = { headers: { origin, range: 'bytes=0-1' } };
      const got = await fetch(objects.readAddress(key, { expiresInS: 60 }), range);
      expect([got.status, await got.text()]).toEqual([206, 'pn']);
      expect(got.headers.get('access-control-expose-headers')?.split(/, ?/).sort()).toEqual([...ExposeHeaders].sort());
    }
    expect((await preflight('https://elsewhere.example.com')).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('shows variants to everyone, without a list of them', async () => {
    const { bucket, objects } = variants;
    const url = `${testServer.endpoint}/${bucket}`;
    await objects.put('img/a.webp', Buffer.from('webp'), { contentType: 'image/webp' });
    expect((await fetch(`${url}/img/a.webp`)).status).toBe(403);
    const policy = JSON.stringify(await read('public-read.json')).replaceAll('example-variants', bucket);
    await configure(bucket, 'policy', policy);
    expect(await (await fetch(`${url}/img/a.webp`)).text()).toBe('webp');
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(`${url}/img/b.webp`, { method: 'PUT', body: 'x' })).status).toBe(403);
  });

  /** Uses the bucket in each way that the services do. Rejects if the server refuses one of them. */
  async function useAll({ bucket, store, objects }: TestBucket): Promise<void> {
    const key = `u/${randomBytes(8).toString('hex')}`;
    await objects.check();
    if ((await store.corsOrigins(bucket)) === undefined) throw new Error('cannot read the CORS rules');
    await objects.put(key, Buffer.from('0123'), { contentType });
    (await objects.get(key))?.stream.destroy();
    await objects.copy(key, `${key}-copy`, { contentType });
    await listed(objects, 'u/');
    const upload = { id: randomBytes(16).toString('hex'), key: `${key}.mp4`, size: 20_000_000, contentType };
    await objects.resumable.append(upload, 0, Readable.from([Buffer.alloc(9_000_000)]));
    await objects.resumable.offset(upload);
    await objects.resumable.terminate(upload);
    await objects.resumable.seal(upload.key);
    await objects.resumable.sweep({ before: new Date(0), apply: false, limit: 1 });
    const { failed } = await objects.remove([key, `${key}-copy`]);
    if (failed.length > 0) throw new Error(failed[0]?.reason);
  }

  /** For all accounts, the owner included. Ceph does not evaluate `NotAction`, so each action is named. */
  async function deny(bucket: string, denied: readonly string[]): Promise<void> {
    const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
    const statement = { Effect: 'Deny', Principal: '*', Action: denied, Resource };
    await configure(bucket, 'policy', JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
  }

  describe('the access of the account', { timeout: 60_000 }, () => {
    afterAll(() =>
      client.call({ method: 'DELETE', bucket: originals.bucket, query: { policy: '' }, repeat: 'always' }, (answer) =>
        answer.body.dump(),
      ),
    );

    it('is enough for everything that the services do', async () => {
      await deny(originals.bucket, others);
      await useAll(originals);
    });

    it.each(actions)('includes %s, which the services need', async (action) => {
      await deny(originals.bucket, [action]);
      await expect(useAll(originals)).rejects.toThrow();
    });
  });
});
