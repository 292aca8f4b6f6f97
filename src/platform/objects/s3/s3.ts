/** The buckets of one S3 server, and what a start finds out about the server. */
import { randomUUID } from 'node:crypto';
import type { Objects } from '../objects.ts';
import { openS3Bucket, type S3Abilities } from './bucket.ts';
import { createS3Client, drop, type S3Client, type S3ClientOptions, S3Fault } from './client.ts';
import { allowAnyOrigin, type CorsOrigins, readCorsOrigins } from './cors.ts';

/** Whether the server honors `If-None-Match: *` on a PUT, ignores it, or returns an error. */
export type CreateOnlySupport = 'honored' | 'ignored' | 'refused';

export interface S3Store {
  bucket(name: string): Objects;
  /** Throws S3Fault if the credentials do not give access. */
  exists(bucket: string): Promise<boolean>;
  /** Creates a bucket that pages of any origin may use. `isPublic`: anyone may read its objects. */
  create(bucket: string, options: { readonly isPublic: boolean }): Promise<void>;
  /** Writes a small object twice. The result also decides what `writeAddress` signs. */
  probeCreateOnly(bucket: string): Promise<CreateOnlySupport>;
  /** `undefined`: the server does not report them. */
  corsOrigins(bucket: string): Promise<CorsOrigins | undefined>;
  close(): Promise<void>;
}

export function openS3Store(options: S3ClientOptions): S3Store {
  const client = createS3Client(options);
  const abilities: S3Abilities = { createOnly: true, bulkDelete: true };
  return {
    bucket: (name) => openS3Bucket({ client, bucket: name, abilities }),
    exists: (bucket) => exists(client, bucket),
    create: (bucket, { isPublic }) => create(client, bucket, options.region, isPublic),
    probeCreateOnly: async (bucket) => {
      const support = await probeCreateOnly(client, bucket);
      abilities.createOnly = support === 'honored';
      return support;
    },
    corsOrigins: (bucket) => readCorsOrigins(client, bucket),
    close: () => client.close(),
  };
}

async function exists(client: S3Client, bucket: string): Promise<boolean> {
  try {
    await client.call({ method: 'HEAD', bucket, repeat: 'always' }, drop);
    return true;
  } catch (error) {
    if (error instanceof S3Fault && error.status === 404) return false;
    throw error;
  }
}

async function create(client: S3Client, bucket: string, region: string, isPublic: boolean): Promise<void> {
  // These two regions are the default of a request without a body.
  const named = !['us-east-1', 'auto'].includes(region);
  const body = named
    ? Buffer.from(
        `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`,
      )
    : undefined;
  try {
    await client.call({ method: 'PUT', bucket, body, repeat: 'always' }, drop);
  } catch (error) {
    // Another process created it first.
    if (!(error instanceof S3Fault && error.code === 'BucketAlreadyOwnedByYou')) throw error;
  }
  await allowAnyOrigin(client, bucket);
  if (isPublic) await publish(client, bucket);
}

async function publish(client: S3Client, bucket: string): Promise<void> {
  const policy = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` }],
  };
  const body = Buffer.from(JSON.stringify(policy));
  await client.call({ method: 'PUT', bucket, query: { policy: '' }, body, repeat: 'always' }, drop);
}

async function probeCreateOnly(client: S3Client, bucket: string): Promise<CreateOnlySupport> {
  const key = `.probe/${randomUUID()}`;
  const headers = { 'content-type': 'text/plain', 'if-none-match': '*' };
  // Repeated only if nothing was written, so that the first write does not meet its own object.
  const request = { method: 'PUT', bucket, key, headers, body: Buffer.from('probe'), repeat: 'refused' } as const;
  const write = async (meaningful: readonly number[]): Promise<'written' | 'not written'> => {
    try {
      await client.call(request, drop);
      return 'written';
    } catch (error) {
      if (error instanceof S3Fault && meaningful.includes(error.status)) return 'not written';
      throw error;
    }
  };
  try {
    if ((await write([400, 501])) === 'not written') return 'refused';
    return (await write([412])) === 'written' ? 'ignored' : 'honored';
  } finally {
    // The result counts even if the probe object cannot be removed.
    await client.call({ method: 'DELETE', bucket, key, repeat: 'always' }, drop).catch(() => undefined);
  }
}
