/** An S3 server that is down, hangs or misbehaves, played by a small server of our own. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listed, pattern } from '../../../test/platform/objects/objects.fixture.ts';
import { systemClock } from '../clock.ts';
import { problems } from '../problem.ts';
import { BreakerOpen, DeadlineExceeded } from '../resilience.ts';
import { ObjectExists, type Objects } from './objects.ts';
import { createS3Client, defaultLimits, type S3ClientOptions, S3Fault, type S3Limits } from './s3/client.ts';
import { listMultiparts, listParts } from './s3/multipart.ts';
import { openS3Store, type S3Store } from './s3/s3.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

const contentType = 'text/plain';
/** Deadlines have their defaults, so that a busy machine does not exceed them. The breaker opens soon. */
const quickBreaker = { failingForMs: 50, trialEveryMs: 100, connections: 8 };
/** For tests in which a deadline passes, but other calls must succeed. */
const shortDeadlines = { ...quickBreaker, answerTimeoutMs: 1000, idleBodyTimeoutMs: 1000 };

let answer: Answer;
let seen: Seen[];
let server: ReturnType<typeof createServer>;
let store: S3Store;
let objects: Objects;

beforeEach(async () => {
  seen = [];
  answer = good;
  server = createServer((request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, headers });
    // A connection that was cut on purpose.
    request.on('error', () => undefined);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  openStore(quickBreaker);
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await store.close();
});

const optionsOf = (limits: Partial<S3Limits>): S3ClientOptions => ({
  endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`,
  region: 'auto',
  accessKeyId: 'KEYID',
  secretAccessKey: 'SECRET',
  clock: systemClock,
  limits,
});

function openStore(limits: Partial<S3Limits>): void {
  store = openS3Store(optionsOf(limits));
  objects = store.bucket('bucket');
}

async function reopenStore(limits: Partial<S3Limits>): Promise<void> {
  await store.close();
  openStore(limits);
}

/** After the request's body has come. */
const whenRead = (act: Answer): Answer => {
  return (request, response) => void request.resume().once('end', () => act(request, response));
};
const head = { etag: '"e"', 'last-modified': 'Sat, 21 Nov 2026 01:24:20 GMT' };
const good = whenRead((_request, response) => response.writeHead(200, { ...head, 'content-length': 5 }).end('hello'));
const hang: Answer = (request) => void request.resume();
const reset: Answer = (request) => void request.socket.destroy();
const status = (code: number, body = ''): Answer =>
  whenRead((_request, response) => response.writeHead(code).end(body));
const xml = (body: string): Answer => status(200, `<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
const slowDown = status(503, '<Error><Code>SlowDown</Code></Error>');

/** Each request takes the next response. The last one repeats. */
function inTurn(...answers: Answer[]): Answer {
  return (request, response) => (answers.length > 1 ? answers.shift() : answers[0])?.(request, response);
}

async function outcome(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'done',
    (error: unknown) => error,
  );
}

const unavailable = { code: 'engine_unavailable', status: 503, message: problems.engine_unavailable().message };
const causeOf = (error: unknown) => (error instanceof Error ? error.cause : undefined);

const everyCall: [string, () => Promise<unknown>][] = [
  ['head', () => objects.head('a/secret-key')],
  ['get', () => objects.get('a/secret-key')],
  ['put of a buffer', () => objects.put('a/secret-key', Buffer.from('x'), { contentType })],
  ['put of a large buffer', () => objects.put('a/secret-key', pattern(2_000_000, 1), { contentType })],
  ['put of a stream', () => objects.put('a/secret-key', Readable.from([Buffer.from('x')]), { contentType, size: 1 })],
  ['put create only', () => objects.put('a/secret-key', Buffer.from('x'), { contentType, createOnly: true })],
  ['copy', () => objects.copy('a/secret-key', 'b', { contentType })],
  ['remove of one', () => objects.remove(['a/secret-key'])],
  ['remove of many', () => objects.remove(['a/secret-key', 'b'])],
  ['list', () => listed(objects, 'a/')],
  ['check', () => objects.check()],
];

describe('every call answers an outage with the documented problem', () => {
  test.each(everyCall)('%s: a server that never answers', async (_, call) => {
    await reopenStore({ ...quickBreaker, answerTimeoutMs: 300 });
    answer = hang;
    const error = await outcome(call());
    expect(error).toMatchObject(unavailable);
    expect(causeOf(error)).toBeInstanceOf(DeadlineExceeded);
  });

  test.each(everyCall)('%s: no server listens', async (_, call) => {
    server.close();
    const error = await outcome(call());
    expect(error).toMatchObject(unavailable);
    expect(causeOf(error)).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test.each(everyCall)('%s: connections are reset', async (_, call) => {
    answer = reset;
    expect(await outcome(call())).toMatchObject(unavailable);
  });

  test.each(everyCall)('%s: 500 and a proxy’s page', async (_, call) => {
    answer = status(502, '<html><body>Bad Gateway');
    const error = await outcome(call());
    expect(error).toMatchObject(unavailable);
    expect(causeOf(error)).toMatchObject({ status: 502, code: undefined });
    expect(JSON.stringify([String(error), (error as { details?: unknown }).details])).not.toMatch(/secret-key|127\.0/);
  });

  test.each(everyCall)('%s: wrong credentials', async (name, call) => {
    answer = status(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>');
    const error = await outcome(call());
    // A failed deletion names its key.
    if (name === 'remove of one') expect(error).toBe('done');
    else expect(error).toMatchObject({ ...unavailable, cause: expect.any(S3Fault) });
    expect(seen).toHaveLength(1);
  });
});

test('the limits allow a response within 10 s, and a recovery within 15 s', () => {
  expect(defaultLimits.connectTimeoutMs).toBeLessThan(defaultLimits.answerTimeoutMs);
  expect(defaultLimits.answerTimeoutMs).toBeLessThan(10_000);
  expect(defaultLimits.idleBodyTimeoutMs).toBeLessThan(10_000);
  expect(defaultLimits.trialEveryMs).toBeLessThan(5_000);
});

describe('retries', () => {
  test.each(everyCall.filter(([name]) => /head|get|put of a (large )?buffer|remove|check/.test(name)))(
    '%s: after a reset, an error and a refusal',
    async (name, call) => {
      const lastly =
        name === 'remove of many' ? xml('<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>') : good;
      for (const first of [reset, status(500), slowDown]) {
        seen = [];
        answer = inTurn(first, first, lastly);
        expect(await outcome(call())).toBe('done');
        expect(seen).toHaveLength(3);
      }
    },
  );

  test('a list continues after a failure', async () => {
    const page = (key: string, rest: string) =>
      xml(
        `<ListBucketResult>${rest}<Contents><Key>${key}</Key><ETag>e</ETag><Size>1</Size><LastModified>2026-11-21T01:24:20.824Z</LastModified></Contents></ListBucketResult>`,
      );
    const next = '<IsTruncated>true</IsTruncated><NextContinuationToken>t+/ &amp;</NextContinuationToken>';
    answer = inTurn(reset, page('a/1', next), slowDown, page('a/2', ''));
    expect((await listed(objects, 'a/')).map(({ key, etag }) => [key, etag])).toEqual([
      ['a/1', '"e"'],
      ['a/2', '"e"'],
    ]);
    expect(seen.at(-1)?.url).toContain('continuation-token=t%2B%2F%20%26');
  });

  test('a stream is sent once', async () => {
    answer = inTurn(reset, good);
    const body = Readable.from([Buffer.from('x')]);
    expect(await outcome(objects.put('a', body, { contentType, size: 1 }))).toMatchObject(unavailable);
    expect(seen).toHaveLength(1);
    expect(body.destroyed).toBe(true);
  });

  test('a create-only write is not repeated when it may have been done', async () => {
    for (const first of [reset, status(500)]) {
      seen = [];
      answer = inTurn(first, status(412));
      const put = objects.put('a', Buffer.from('x'), { contentType, createOnly: true });
      expect(await outcome(put)).toMatchObject(unavailable);
      expect(seen).toHaveLength(1);
    }
  });

  test('but it is when it was refused', async () => {
    const conflict = status(409, '<Error><Code>ConditionalRequestConflict</Code></Error>');
    answer = inTurn(conflict, slowDown, good);
    expect(await outcome(objects.put('a', Buffer.from('x'), { contentType, createOnly: true }))).toBe('done');
    answer = inTurn(conflict, status(412));
    const put = objects.put('a', Buffer.from('x'), { contentType, createOnly: true });
    expect(await outcome(put)).toBeInstanceOf(ObjectExists);
  });

  test('a repeat sends the whole body again', async () => {
    const lengths: number[] = [];
    answer = (request, response) => {
      buffer(request).then((bytes) => {
        lengths.push(bytes.length);
        response.writeHead(lengths.length < 3 ? 500 : 200, head).end();
      });
    };
    await objects.put('a', pattern(1_000_000, 1), { contentType });
    expect(lengths).toEqual([1_000_000, 1_000_000, 1_000_000]);
  });
});

describe('the breaker', () => {
  const heads = (count: number) => Promise.all(Array.from({ length: count }, () => outcome(objects.head('a'))));

  test('fails immediately while the server is down, and closes soon after the server has recovered', async () => {
    answer = reset;
    await heads(5);
    await expect.poll(async () => causeOf(await outcome(objects.head('a')))).toBeInstanceOf(BreakerOpen);
    seen = [];
    const refused = await heads(50);
    for (const error of refused) expect(error).toMatchObject(unavailable);
    expect(refused.some((error) => causeOf(error) instanceof BreakerOpen)).toBe(true);
    expect(seen.length).toBeLessThan(10);
    answer = good;
    await expect.poll(() => outcome(objects.head('a'))).toBe('done');
    expect(await heads(20)).toEqual(Array(20).fill('done'));
  });

  test('a burst of stale connections does not open it', async () => {
    await reopenStore({ connections: 8 });
    expect(await heads(8)).toEqual(Array(8).fill('done'));
    answer = inTurn(...Array(8).fill(reset), good);
    expect(await heads(8)).toEqual(Array(8).fill('done'));
  });

  test('more calls than connections to a server that hangs all end, and all is well again after', async () => {
    await reopenStore(shortDeadlines);
    answer = hang;
    for (const error of await heads(100)) expect(error).toMatchObject(unavailable);
    answer = good;
    await expect.poll(() => outcome(objects.head('a'))).toBe('done');
    expect(await heads(20)).toEqual(Array(20).fill('done'));
  });

  test('neither absent objects nor the caller’s own failures open it', async () => {
    answer = status(404);
    expect(await heads(20)).toEqual(Array(20).fill('done'));
    answer = hang;
    for (let round = 0; round < 10; round++) {
      const controller = new AbortController();
      const got = outcome(objects.get('a', { signal: controller.signal }));
      controller.abort(new Error('the caller left'));
      expect(await got).toMatchObject({ message: 'the caller left' });
      const body = new PassThrough();
      const put = outcome(objects.put('a', body, { contentType, size: 10 }));
      body.destroy(new Error('the sender left'));
      expect(await put).toMatchObject({ message: 'the sender left' });
    }
    answer = good;
    expect(await outcome(objects.head('a'))).toBe('done');
  });
});

describe('bodies', () => {
  test('one that is cut off is an outage to its reader', async () => {
    answer = whenRead((_request, response) => {
      response.writeHead(200, { ...head, 'content-length': 1000 }).write('only so much');
      setTimeout(() => response.destroy(), 20);
    });
    const body = await objects.get('a');
    expect(body?.size).toBe(1000);
    expect(await outcome(buffer(body?.stream ?? Readable.from([])))).toMatchObject(unavailable);
  });

  test('one that stalls is an outage, too', async () => {
    await reopenStore(shortDeadlines);
    answer = whenRead((_request, response) => {
      response.writeHead(200, { ...head, 'content-length': 1000 }).write('only so much');
    });
    const body = await objects.get('a');
    expect(await outcome(buffer(body?.stream ?? Readable.from([])))).toMatchObject(unavailable);
  });

  test('one that fails before it is read rejects the read', async () => {
    answer = whenRead((_request, response) => {
      response.writeHead(200, { ...head, 'content-length': 1000 }).write('only so much');
      setTimeout(() => response.destroy(), 20);
    });
    const body = await objects.get('a');
    await sleep(100);
    expect(await outcome(buffer(body?.stream ?? Readable.from([])))).toMatchObject(unavailable);
  });

  test('a slow reader is no outage', async () => {
    await reopenStore(shortDeadlines);
    const bytes = pattern(3_000_000, 1);
    answer = whenRead((_request, response) =>
      response.writeHead(200, { ...head, 'content-length': bytes.length }).end(bytes),
    );
    const body = await objects.get('a');
    await sleep(1500);
    expect((await buffer(body?.stream ?? Readable.from([]))).equals(bytes)).toBe(true);
  });

  test('a slow sender is no outage, but a server that reads nothing is', async () => {
    await reopenStore(shortDeadlines);
    answer = good;
    const slow = new PassThrough();
    const put = outcome(objects.put('a', slow, { contentType, size: 2 }));
    slow.write('a');
    await sleep(1500);
    slow.end('b');
    expect(await put).toBe('done');
    answer = () => undefined;
    const large = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1_000_000);
      })(),
      { objectMode: false },
    );
    const stuck = await outcome(objects.put('a', large, { contentType, size: 1_000_000_000_000 }));
    expect(stuck).toMatchObject(unavailable);
    expect(large.destroyed).toBe(true);
  });

  test('detects a range that the server ignores', async () => {
    answer = whenRead((_request, response) => response.writeHead(200, { ...head, 'content-length': 5 }).end('hello'));
    expect(await outcome(objects.get('a', { range: { start: 1, end: 2 } }))).toMatchObject(unavailable);
  });
});

describe('misleading responses', () => {
  test('a deletion counts only the objects that the response names', async () => {
    answer = xml(
      `<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Deleted><Key>a&amp;b</Key></Deleted>
      <Error><Key>c</Key><Code>AccessDenied</Code><Message>no</Message></Error>
      <Error><Key>d</Key><Code>NoSuchKey</Code></Error></DeleteResult>`,
    );
    const { removed, failed } = await objects.remove(['a&b', 'c', 'd', 'e']);
    expect(removed).toEqual(['a&b', 'd']);
    expect(failed).toEqual([
      { key: 'c', reason: 'AccessDenied' },
      { key: 'e', reason: 'not confirmed' },
    ]);
    expect(seen[0]?.headers['content-md5']).toMatch(/^[A-Za-z0-9+/]{22}==$/);
  });

  test('sends one DeleteObjects request to a server without it', async () => {
    answer = (request, response) => {
      const isKnown = request.method === 'DELETE';
      const answered = request.url?.endsWith('/c')
        ? status(403, '<Error><Code>AccessDenied</Code></Error>')
        : status(204);
      (isKnown ? answered : status(501, '<Error><Code>NotImplemented</Code></Error>'))(request, response);
    };
    for (let round = 0; round < 2; round++) {
      const { removed, failed } = await objects.remove(['a', 'b', 'c']);
      expect([removed.toSorted(), failed]).toEqual([['a', 'b'], [{ key: 'c', reason: 'AccessDenied' }]]);
    }
    expect(seen.map(({ method }) => method)).toEqual(['POST', ...Array(6).fill('DELETE')]);
  });

  test('a copy that fails after its 200 is repeated', async () => {
    const copied =
      '<CopyObjectResult><ETag>&quot;n&quot;</ETag><LastModified>2026-11-21T01:24:20.000Z</LastModified></CopyObjectResult>';
    const late = xml('<Error><Code>InternalError</Code></Error>');
    answer = inTurn(good, late, late, xml(copied));
    expect(await objects.copy('ä', 'b', { contentType })).toMatchObject({ size: 5, etag: '"n"' });
    expect(seen.at(-1)?.headers).toMatchObject({
      'x-amz-copy-source': '/bucket/%C3%A4',
      'x-amz-copy-source-if-match': '"e"',
      'x-amz-metadata-directive': 'REPLACE',
      'content-type': contentType,
    });
  });

  test('a source that changes between the HEAD and the copy is read again', async () => {
    const copied =
      '<CopyObjectResult><ETag>"n"</ETag><LastModified>2026-11-21T01:24:20Z</LastModified></CopyObjectResult>';
    answer = inTurn(good, status(412), good, xml(copied));
    expect(await objects.copy('a', 'b', { contentType })).toMatchObject({ etag: '"n"' });
    expect(seen).toHaveLength(4);
  });

  test('a server that never accepts the ETag of its own response to a HEAD', async () => {
    answer = (request, response) => (request.method === 'HEAD' ? good : status(412))(request, response);
    expect(await outcome(objects.copy('a', 'b', { contentType }))).toMatchObject(unavailable);
    expect(seen.length).toBeLessThan(20);
  });

  test('a copy beyond 5 GiB is refused, clearly', async () => {
    answer = whenRead((_request, response) =>
      response.writeHead(200, { ...head, 'content-length': 6 * 1024 ** 3 }).end(),
    );
    await expect(objects.copy('a', 'b', { contentType })).rejects.toThrow('5 GiB');
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['cut off', '<ListBucketResult><Contents><Key>a</Key>'],
    ['of another kind', '<ListAllMyBucketsResult/>'],
    ['without what it should have', '<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>'],
    ['without the way on', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
  ])('a list %s', async (_, body) => {
    answer = xml(body);
    expect(await outcome(listed(objects, ''))).toMatchObject(unavailable);
  });

  test('a list that never advances', async () => {
    answer = xml(
      '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>',
    );
    await expect(listed(objects, '')).rejects.toThrow('the same page of a list again');
  });

  test('a list of parts, or of uploads in progress, that never advances', async () => {
    const marker = '<NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>1</NextUploadIdMarker>';
    const truncated = `<IsTruncated>true</IsTruncated><NextPartNumberMarker>7</NextPartNumberMarker>${marker}`;
    answer = xml(`<Result>${truncated}</Result>`);
    const client = createS3Client(optionsOf(quickBreaker));
    const place = { client, bucket: 'bucket' };
    await expect(listParts(place, { key: 'a', uploadId: '1' })).rejects.toThrow('the same page of a list again');
    await expect(listMultiparts(place, 'a').next()).rejects.toThrow('the same page of a list again');
    await client.close();
  });

  test('keys that are not ours to use are passed over, encoded ones read', async () => {
    const entry = (key: string) =>
      `<Contents><Key>${key}</Key><ETag>"e"</ETag><Size>1</Size><LastModified>2026-11-21T01:24:20Z</LastModified></Contents>`;
    answer = xml(
      `<ListBucketResult><EncodingType>url</EncodingType>${['a+b%2Bc', 'folder/', 'a//b', '%C3%A4%0A', 'z%26'].map(entry).join('')}</ListBucketResult>`,
    );
    expect((await listed(objects, '')).map(({ key }) => key)).toEqual(['a b+c', 'z&']);
  });

  test('rejects an object without an ETag', async () => {
    answer = whenRead((_request, response) => response.writeHead(200, { 'content-length': 5 }).end('hello'));
    expect(await outcome(objects.head('a'))).toMatchObject(unavailable);
  });
});

describe('a server that cannot create only', () => {
  const paths = () => seen.map(({ method, headers }) => `${method} ${headers['if-none-match'] ?? '-'}`);

  test.each([
    ['honored', inTurn(status(200), status(412), status(204))],
    ['ignored', status(200)],
    ['refused', inTurn(status(501), status(204))],
    ['refused', inTurn(status(400), status(204))],
  ] as const)('is found out: %s', async (support, behaviour) => {
    answer = behaviour;
    expect(await store.probeCreateOnly('bucket')).toBe(support);
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE', url: seen[0]?.url });
    const { headers, url } = objects.writeAddress('a', { expiresInS: 300, contentType, maxSize: 9 });
    expect('If-None-Match' in headers).toBe(support === 'honored');
    expect(url.includes('if-none-match')).toBe(support === 'honored');
  });

  test('other failures leave it undecided', async () => {
    answer = status(403);
    await expect(store.probeCreateOnly('bucket')).rejects.toMatchObject({ status: 403 });
    answer = status(500);
    await expect(store.probeCreateOnly('bucket')).rejects.toMatchObject({ status: 500 });
    expect(objects.writeAddress('a', { expiresInS: 300, contentType, maxSize: 9 }).headers).toHaveProperty(
      'If-None-Match',
    );
  });

  test('is checked before a write', async () => {
    answer = status(200);
    await store.probeCreateOnly('bucket');
    seen = [];
    answer = good;
    const put = () => objects.put('a', Buffer.from('x'), { contentType, createOnly: true });
    expect(await outcome(put())).toBeInstanceOf(ObjectExists);
    answer = inTurn(status(404), good);
    expect(await outcome(put())).toBe('done');
    expect(paths()).toEqual(['HEAD -', 'HEAD -', 'PUT -']);
  });
});

test('an endpoint may have a path of its own', async () => {
  await objects.head('ä/b');
  expect(seen[0]).toMatchObject({ method: 'HEAD', url: '/base/bucket/%C3%A4/b' });
  expect(new URL(objects.readAddress('a', { expiresInS: 60 })).pathname).toBe('/base/bucket/a');
});
