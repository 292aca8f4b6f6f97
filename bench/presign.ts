/** Our S3 driver against the AWS SDK: what an address costs, and how many HEADs go through one connection pool. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { systemClock } from '../src/platform/clock.ts';
import { openS3Store } from '../src/platform/objects/s3/s3.ts';
import { atLeast, type Bench, cpuMicrosOf, median, type Row } from './bench.ts';

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const bucket = 'objects';
const keyOf = (at: number) => `u/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/thread/demo/asset-${at}.jpg`;

export const presign: Bench = {
  async *run() {
    const server = spawn(process.execPath, [fileURLToPath(import.meta.url)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [port] = await once(server.stdout.setEncoding('utf8'), 'data');
    try {
      yield* compare(`http://127.0.0.1:${port}`);
    } finally {
      server.kill();
    }
  },
};

async function* compare(endpoint: string): AsyncGenerator<Row> {
  const ours = openS3Store({ endpoint, region: 'auto', ...credentials, clock: systemClock });
  const theirs = new S3Client({ endpoint, region: 'auto', forcePathStyle: true, credentials });
  const objects = ours.bucket(bucket);
  try {
    const signOurs = (at: number) => objects.readAddress(keyOf(at), { expiresInS: 604_800, contentType: 'image/jpeg' });
    const signTheirs = (at: number) =>
      getSignedUrl(
        theirs,
        new GetObjectCommand({ Bucket: bucket, Key: keyOf(at), ResponseContentType: 'image/jpeg' }),
        { expiresIn: 604_800 },
      );
    const headOurs = (at: number) => objects.head(keyOf(at));
    const headTheirs = (at: number) => theirs.send(new HeadObjectCommand({ Bucket: bucket, Key: keyOf(at) }));
    yield atLeast(40, {
      goal: 'presigned read address, by processor time',
      measured: await ratio({ work: signOurs, times: 10_000, atOnce: 1 }, { work: signTheirs, times: 500, atOnce: 1 }),
      against: '@aws-sdk/s3-request-presigner',
    });
    yield atLeast(2.5, {
      goal: 'HEAD, 16 at once, by processor time of the client',
      measured: await ratio({ work: headOurs, times: 2000, atOnce: 16 }, { work: headTheirs, times: 1000, atOnce: 16 }),
      against: '@aws-sdk/client-s3',
    });
  } finally {
    theirs.destroy();
    await ours.close();
  }
}

interface Load {
  readonly work: (at: number) => unknown;
  readonly times: number;
  readonly atOnce: number;
}

/** How many times cheaper one of ours is; the two take turns, the first round warms up. */
async function ratio(ours: Load, theirs: Load): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < 6; round++) {
    const their = await cpuMicrosEach(theirs);
    const our = await cpuMicrosEach(ours);
    if (round > 0) ratios.push(their / our);
  }
  return median(ratios);
}

async function cpuMicrosEach({ work, times, atOnce }: Load): Promise<number> {
  const micros = await cpuMicrosOf(async () => {
    for (let at = 0; at < times; at += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, next) => work(at + next)));
  });
  return micros / times;
}

/** As its own process: a server that answers every HEAD alike, so that the clients' own cost is what is measured. */
if (import.meta.main) {
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      'content-length': 123_456,
      'content-type': 'image/jpeg',
      etag: '"5d41402abc4b2a76b9719d911017c592"',
      'last-modified': 'Sat, 21 Nov 2026 01:24:20 GMT',
    });
    response.end();
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as AddressInfo).port)));
  process.stdin.resume().once('end', () => process.exit());
}
