import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listed } from '../../../test/platform/objects/objects.fixture.ts';
import { dropBucket, skipWithoutS3, testServer } from '../../../test/platform/objects/s3.fixture.ts';
import { systemClock } from '../clock.ts';
import { ConfigFault } from '../config.ts';
import { createLog } from '../log.ts';
import { type ObjectsSettings, openObjects } from './open.ts';
import { createS3Client } from './s3/client.ts';

const contentType = 'text/plain';
const log = createLog({ level: 'silent' });

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'atelier-open-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

const open = (settings: Partial<ObjectsSettings>, { production = false } = {}) =>
  openObjects({ settings: { ...testServer, ...buckets(), ...settings }, production, dataDir, clock: systemClock, log });

function buckets() {
  const name = `test-${randomUUID()}`;
  return { bucket: name, publicBucket: `${name}-public` };
}

test('embedded: files in the data folder', async () => {
  const { driver, originals, publicObjects, probeCreateOnly, close } = await open({ endpoint: 'embedded' });
  await originals.put('u/1/a.txt', Buffer.from('original'), { contentType });
  await publicObjects.put('img/aa/bb/c.webp', Buffer.from('variant'), { contentType });
  expect([driver, originals.bucket, publicObjects.bucket]).toEqual(['files', 'objects', 'public']);
  expect(await readFile(join(dataDir, 'objects/u/1/a.txt'), 'utf8')).toBe('original');
  expect(await readFile(join(dataDir, 'public/img/aa/bb/c.webp'), 'utf8')).toBe('variant');
  expect(await readdir(join(dataDir, '.incoming'))).toEqual([]);
  expect(await originals.head('img/aa/bb/c.webp')).toBeUndefined();
  expect(await probeCreateOnly()).toBe('honored');
  await close();
});

describe('settings that do not fit', () => {
  test('are named all at once', async () => {
    const opening = openObjects({
      settings: {
        endpoint: 'http://127.0.0.1:1',
        region: undefined,
        bucket: undefined,
        publicBucket: '',
        accessKeyId: undefined,
        secretAccessKey: undefined,
      },
      production: false,
      dataDir,
      clock: systemClock,
      log,
    });
    const error = await opening.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigFault);
    for (const name of ['REGION', 'BUCKET', 'PUBLIC_BUCKET', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'])
      expect(String(error)).toContain(`S3_${name} `);
  });

  test('one bucket for public and private objects', async () => {
    const keys = { accessKeyId: 'a', secretAccessKey: 'b' };
    await expect(open({ ...keys, bucket: 'one', publicBucket: 'one' })).rejects.toThrow('S3_PUBLIC_BUCKET');
  });
});

test('a server that does not answer yet is no reason not to start', async () => {
  const keys = { accessKeyId: 'a', secretAccessKey: 'b' };
  const { driver, originals, close } = await open({ endpoint: 'http://127.0.0.1:1', ...keys }, { production: true });
  expect(driver).toBe('s3');
  await expect(originals.check()).rejects.toMatchObject({ code: 'engine_unavailable' });
  await close();
});

describe.skipIf(skipWithoutS3)('a real S3 server', () => {
  const anonymously = (bucket: string, key: string) => fetch(`${testServer.endpoint}/${bucket}/${key}`);

  test('outside production missing buckets are made, the public one public', async () => {
    const names = buckets();
    const opened = await Promise.all([open(names), open(names)]);
    const { originals, publicObjects, probeCreateOnly } = opened[0];
    await originals.put('a', Buffer.from('secret'), { contentType });
    await publicObjects.put('a', Buffer.from('for all'), { contentType });
    expect((await anonymously(names.bucket, 'a')).status).toBe(403);
    expect(await (await anonymously(names.publicBucket, 'a')).text()).toBe('for all');
    expect((await anonymously(names.publicBucket, '')).status).toBe(403);
    expect(await probeCreateOnly()).toBe('honored');
    // None of our files remain beside the objects.
    expect((await listed(originals, '')).map(({ key }) => key)).toEqual(['a']);
    await Promise.all(opened.map(({ close }) => close()));
    await (await open(names, { production: true })).close();
    await dropBucket(names.bucket);
    await dropBucket(names.publicBucket);
  });

  test('pages of any origin can upload to buckets that the start created', async () => {
    const names = buckets();
    const { originals, examineOrigins, close } = await open(names);
    expect(await examineOrigins()).toEqual({ isClosed: false, sentence: 'pages of any origin can upload' });
    const { url, headers } = await originals.writeAddress('a', { contentType, expiresInS: 60, maxSize: 100 });
    const asked = { origin: 'https://app.example', 'access-control-request-method': 'PUT' };
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { ...asked, 'access-control-request-headers': Object.keys(headers).join(',') },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, expect.anything()]);
    await close();
    await dropBucket(names.bucket);
    await dropBucket(names.publicBucket);
  });

  test.each([
    [undefined, true, 'no page can upload or read, because there is no CORS rule'],
    [
      [
        ['https://a.example', 'https://b.example'],
        ['PUT', 'GET'],
      ],
      false,
      'pages of https://a.example, https://b.example can upload',
    ],
    [[['https://a.example'], ['GET']], true, 'no page can upload; pages of https://a.example can read'],
  ] as const)('the CORS rule %j is reported', async (rule, isClosed, sentence) => {
    const names = buckets();
    await (await open(names)).close();
    const client = createS3Client({ ...testServer, clock: systemClock });
    const request = { bucket: names.bucket, query: { cors: '' }, repeat: 'always' } as const;
    const drop = (response: { readonly body: { dump(): Promise<void> } }) => response.body.dump();
    if (rule === undefined) await client.call({ ...request, method: 'DELETE' }, drop);
    else {
      const [origins, methods] = rule;
      const elements = [
        ...origins.map((origin) => `<AllowedOrigin>${origin}</AllowedOrigin>`),
        ...methods.map((method) => `<AllowedMethod>${method}</AllowedMethod>`),
      ];
      const body = Buffer.from(`<CORSConfiguration><CORSRule>${elements.join('')}</CORSRule></CORSConfiguration>`);
      const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
      await client.call({ ...request, method: 'PUT', headers, body }, drop);
    }
    const { examineOrigins, close } = await open(names, { production: true });
    expect(await examineOrigins()).toEqual({ isClosed, sentence });
    await Promise.all([close(), client.close()]);
    await dropBucket(names.bucket);
    await dropBucket(names.publicBucket);
  });

  test('in production a missing bucket is named', async () => {
    const names = buckets();
    const error = await open(names, { production: true }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigFault);
    expect(String(error)).toMatch(/S3_(PUBLIC_)?BUCKET: .*"test-/);
  });

  test.each([{ accessKeyId: 'NOBODY' }, { secretAccessKey: 'wrong' }])('%j is named', async (wrong) => {
    const error = await open(wrong).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigFault);
    expect(String(error)).toContain('S3_ACCESS_KEY_ID');
    expect(String(error)).not.toContain('wrong');
  });
});
