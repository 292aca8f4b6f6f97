/** The restore of docs/operations.md on PostgreSQL and S3, with the copying tools that it names, on Ceph and on moto. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newPlace, run } from '../acceptance/running.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';

const exec = promisify(execFile);
const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const {
  S3_TEST_ENDPOINT: ceph,
  S3_TEST_ACCESS_KEY_ID: id = 'id',
  S3_TEST_SECRET_ACCESS_KEY: secret = 'secret',
} = process.env;

describe.each([
  ['Ceph', 'aws', skipWithout('aws', 'pg_dump') || !ceph],
  ['Ceph', 'rclone', skipWithout('rclone', 'pg_dump') || !ceph],
  ['moto', 'aws', skipWithout('aws', 'moto_server', 'pg_dump')],
  ['moto', 'rclone', skipWithout('rclone', 'moto_server', 'pg_dump')],
] as const)('%s, copied with %s', (server, tool, isMissing) => {
  describe.skipIf(withoutPostgres || isMissing)('', () => {
    const closers: (() => unknown)[] = [];
    let endpoint: string;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-s3restore-'));
      closers.push(() => rm(folder, { recursive: true }));
      if (server === 'Ceph') endpoint = ceph ?? '';
      else {
        const port = await freePortBase();
        endpoint = `http://127.0.0.1:${port}`;
        const child = spawn('moto_server', ['-p', String(port)], { stdio: 'ignore' });
        closers.push(() => child.kill('SIGKILL'));
        const answers = () =>
          fetch(endpoint).then(
            ({ ok }) => ok,
            () => false,
          );
        await vi.waitFor(async () => expect(await answers()).toBe(true), 60_000);
      }
    }, 90_000);
    afterAll(async () => {
      for (const close of closers.reverse()) await close();
    });

    it('has every file of 1 kB to 100 MB again, with previews, copies and watermarks', {
      timeout: 600_000,
    }, async () => {
      const place = await newPlace();
      const [database, issuer] = [await createPostgresDatabase(), await startTestIssuer()];
      closers.push(place.remove, database.drop, issuer.close);
      const bucket = `restore-${randomUUID()}`;
      const keys = { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_DEFAULT_REGION: 'us-east-1' };
      const env = {
        ...place.env,
        DATABASE_URL: database.url,
        JWKS_URL: issuer.jwksUrl,
        S3_ENDPOINT: endpoint,
        S3_BUCKET: bucket,
        S3_PUBLIC_BUCKET: `${bucket}-variants`,
        S3_ACCESS_KEY_ID: id,
        S3_SECRET_ACCESS_KEY: secret,
        S3_REGION: 'us-east-1',
        STARTING_CREDITS: '1000',
      };
      const tools = {
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          ...keys,
          RCLONE_S3_PROVIDER: 'Other',
          RCLONE_S3_ENV_AUTH: 'true',
          RCLONE_S3_ENDPOINT: endpoint,
        },
      };
      const sync = (from: string, to: string) => {
        const place = (name: string) => (tool === 'aws' || name.startsWith('/') ? name : name.replace('s3://', ':s3:'));
        const words = ['sync', place(from), place(to)];
        return tool === 'aws'
          ? exec('aws', ['s3', ...words, '--endpoint-url', endpoint, '--only-show-errors'], tools)
          : exec('rclone', words, tools);
      };
      const authorization = `Bearer ${await issuer.token({ sub: randomUUID() })}`;
      const call = async (path: string, json?: object) => {
        const response = await fetch(`http://127.0.0.1:${place.portBase + 1}${path}`, {
          method: json ? 'POST' : 'GET',
          headers: { authorization, ...(json && { 'content-type': 'application/json' }) },
          ...(json && { body: JSON.stringify(json) }),
        });
        const text = await response.text();
        expect(response.status, `${path}: ${text}`).toBeLessThan(300);
        return JSON.parse(text);
      };
      const during = async <T>(work: () => Promise<T>): Promise<T> => {
        const program = run('start', ['media', 'image', 'edge', 'idp'], env);
        try {
          await program.waitFor('Atelier is ready', 120_000);
          return await work();
        } finally {
          program.child.kill('SIGTERM');
          await program.ended(60_000);
        }
      };
      const upload = async (kind: string, mime: string, bytes: Buffer) => {
        const scope = { scopeKind: 'thread', scopeId: 't', kind, mime };
        const { assetId, uploadUrl, headers } = await call('/v1/uploads', scope);
        expect((await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) })).status).toBe(200);
        await call('/v1/assets', { ...scope, assetId });
        return String(assetId);
      };
      const noise = (side: number) =>
        sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
          .png({ compressionLevel: 0 })
          .toBuffer();
      const clip = join(folder, 'clip.mp4');
      await exec('ffmpeg', [
        '-y',
        '-v',
        'error',
        '-f',
        'lavfi',
        '-i',
        'testsrc=size=320x180:rate=10:duration=1',
        '-pix_fmt',
        'yuv420p',
        clip,
      ]);
      const small = await readFile(clip);
      // A box that players skip.
      const padding = Buffer.alloc(100_000_000 - small.length);
      padding.writeUInt32BE(padding.length, 0);
      padding.write('free', 4);
      await appendFile(clip, padding);
      const { images, video } = await during(async () => ({
        images: await Promise.all(
          [18, 600, 1800, 2200].map(async (side) => upload('image', 'image/png', await noise(side))),
        ),
        video: await upload('video', 'video/mp4', await readFile(clip)),
      }));

      const [dump, copy] = [join(folder, 'atelier.dump'), join(folder, 'originals')];
      await exec('pg_dump', ['--format=custom', `--file=${dump}`, database.url]);
      await sync(`s3://${bucket}`, copy);
      await exec(
        'aws',
        ['s3', 'rm', '--recursive', `s3://${bucket}`, '--endpoint-url', endpoint, '--only-show-errors'],
        tools,
      );
      await exec('psql', [database.url, '-c', 'drop schema public cascade; create schema public']);
      await exec('pg_restore', ['--no-owner', `--dbname=${database.url}`, dump]).catch(({ stderr }) => {
        // The dump creates the schema, which exists.
        if (!String(stderr).includes('errors ignored on restore: 1')) throw new Error(stderr);
      });
      await sync(copy, `s3://${bucket}`);

      const report = await during(async () => {
        const signed = await call('/v1/sign/image', { refs: images });
        for (const ref of images) {
          for (const name of ['url', 'previewUrl', 'thumbUrl']) {
            const shown = await fetch(signed[ref][name]);
            await shown.arrayBuffer();
            expect(shown.status, `${name} of ${ref}`).toBe(200);
          }
          await call('/v1/copy', { fromAssetId: ref, toScopeKind: 'feed', toScopeId: '1' });
          await call('/v1/watermark', { ref });
        }
        const shown = (await call('/v1/sign/video', { refs: [video] }))[video];
        const bytes = await fetch(shown.url);
        expect([bytes.status, (await bytes.arrayBuffer()).byteLength]).toEqual([200, 100_000_000]);
        await call('/v1/copy', { fromAssetId: video, toScopeKind: 'feed', toScopeId: '1' });
        const swept = run('sweep', [], env);
        expect(await swept.ended(120_000), swept.output()).toBe(0);
        expect(swept.output()).not.toContain('would remove');
        const [lost] = images;
        const { stdout } = await exec(
          'aws',
          [
            's3api',
            'list-objects-v2',
            '--bucket',
            bucket,
            '--endpoint-url',
            endpoint,
            '--query',
            `Contents[?contains(Key, '${lost}')].Key`,
            '--output',
            'text',
          ],
          tools,
        );
        for (const key of stdout.trim().split(/\s+/))
          await exec('aws', ['s3', 'rm', `s3://${bucket}/${key}`, '--endpoint-url', endpoint], tools);
        const again = run('sweep', [], env);
        await again.ended(120_000);
        return again.output();
      });
      expect(report).toContain('would remove  asset without object');
    });
  });
});
