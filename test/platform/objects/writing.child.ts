/**
 * The process that kills.nightly.test.ts kills. It writes one object after another and prints each acknowledged one. Its argument is the
 * target, as JSON.
 */
import { Readable } from 'node:stream';
import { systemClock } from '#platform/clock.ts';
import { openFilesystem } from '#platform/objects/files/filesystem.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openS3Store } from '#platform/objects/s3/s3.ts';
import { pattern } from './objects.fixture.ts';
import { testServer } from './s3.fixture.ts';

export type Target =
  | { readonly driver: 'files'; readonly folder: string }
  | { readonly driver: 's3'; readonly bucket: string };

export function openTarget(target: Target): { readonly objects: Objects; close(): Promise<void> } {
  if (target.driver === 'files') {
    const { folder } = target;
    const stagingFolder = `${folder}/.incoming`;
    const objects = openFilesystem({ bucket: 'objects', root: `${folder}/objects`, stagingFolder, clock: systemClock });
    return { objects, close: async () => undefined };
  }
  const store = openS3Store({ ...testServer, clock: systemClock });
  return { objects: store.bucket(target.bucket), close: () => store.close() };
}

/** Returns the bytes of write number `at`. */
export function bytesOf(at: number): Buffer {
  return pattern(4 + ((at * 7919) % 40) * 50_000, at).fill(at % 256, 0, 1);
}

async function writeUntilKilled({ objects }: { readonly objects: Objects }): Promise<never> {
  const contentType = 'application/octet-stream';
  for (let at = 0; ; at++) {
    const bytes = bytesOf(at);
    const body = at % 2 === 0 ? bytes : Readable.from(chunks(bytes), { objectMode: false });
    const options = { contentType, size: bytes.length, createOnly: at % 3 === 0 };
    await objects.put(`new/${at % 5}/${at}`, body, options);
    await objects.put('same', bytes, { contentType });
    await objects.copy('same', `copied/${at}`, { contentType });
    process.stdout.write(`${at}\n`);
  }
}

function* chunks(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += 20_000) yield bytes.subarray(start, start + 20_000);
}

if (import.meta.main) await writeUntilKilled(openTarget(JSON.parse(process.argv[2] ?? '')));
