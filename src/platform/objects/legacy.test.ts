/** The legacy backend's doorway (`openLegacyObjects`): which buckets there are, and which are none. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listed } from '../../../test/platform/objects/objects.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../../../test/platform/objects/s3.fixture.ts';
import { systemClock } from '../clock.ts';
import { ConfigFault } from '../config.ts';
import { deriveAddressKey } from './addresses.ts';
import { type LegacySettings, openLegacyObjects } from './open.ts';

const nothing = { region: undefined, accessKeyId: undefined, secretAccessKey: undefined };
const contentType = 'text/plain';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'atelier-legacy-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

const open = (settings: LegacySettings) =>
  openLegacyObjects({
    settings,
    ownBuckets: ['objects', 'public'],
    dataDir,
    clock: systemClock,
    edge: { url: 'http://edge', secret: deriveAddressKey('0a'.repeat(32), '0b'.repeat(32)) },
  });
const openFolder = () => open({ endpoint: 'embedded', ...nothing });

describe('embedded', () => {
  it('is a folder per bucket', async () => {
    const legacy = openFolder();
    const files = legacy.bucket('agent_message');
    await files?.put('a/b.txt', Buffer.from('old'), { contentType });
    expect(await readFile(join(dataDir, 'legacy/agent_message/a/b.txt'), 'utf8')).toBe('old');
    expect([legacy.driver, files?.bucket]).toEqual(['files', 'agent_message']);
    expect(await legacy.bucket('other')?.head('a/b.txt')).toBeUndefined();
    expect(files?.readAddress('a/b.txt', { expiresInS: 60 })).toMatch(/^http:\/\/edge\/o\/agent_message\/a\/b\.txt\?/);
    await legacy.check();
    await legacy.close();
  });

  it('reads a bucket that is not there as an empty one, and makes none by reading', async () => {
    const absent = openFolder().bucket('absent');
    expect(await absent?.head('a/b')).toBeUndefined();
    expect(absent && (await listed(absent, ''))).toEqual([]);
    expect(await absent?.remove(['a/b'])).toEqual({ removed: ['a/b'], failed: [] });
    await expect(readFile(join(dataDir, 'legacy/absent'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('sees later additions and deletions by other systems', async () => {
    const files = openFolder().bucket('shared');
    expect(await files?.head('x/y.png')).toBeUndefined();
    await mkdir(join(dataDir, 'legacy/shared/x'), { recursive: true });
    await writeFile(join(dataDir, 'legacy/shared/x/y.png'), 'four');
    expect(await files?.head('x/y.png')).toMatchObject({ size: 4 });
    await rm(join(dataDir, 'legacy/shared'), { recursive: true });
    expect(await files?.head('x/y.png')).toBeUndefined();
  });

  it('follows no link out of a bucket', async () => {
    await mkdir(join(dataDir, 'legacy/linked'), { recursive: true });
    await writeFile(join(dataDir, 'secret.txt'), 'secret');
    await symlink(dataDir, join(dataDir, 'legacy/linked/out'));
    const files = openFolder().bucket('linked');
    expect(await files?.head('out/secret.txt')).toBeUndefined();
    expect(await files?.get('out/secret.txt')).toBeUndefined();
  });

  it.each([
    '.',
    '..',
    '',
    'a/b',
    '../objects',
    'a\\b',
    'a b',
    'a\0',
    'ä',
    'a%2fb',
    'x'.repeat(256),
    'objects',
    'public',
  ])('has no bucket %j', (name) => {
    expect(openFolder().bucket(name)).toBeUndefined();
  });

  it.each(['...', '.hidden', 'Objects', 'objects.', 'a', 'A-b_c.9', 'x'.repeat(255)])(
    'may have a bucket %j',
    async (name) => {
      const files = openFolder().bucket(name);
      expect(files?.bucket).toBe(name);
      expect(await files?.head('a/b')).toBeUndefined();
    },
  );

  it('serves any number of buckets', async () => {
    const legacy = openFolder();
    for (let number = 0; number < 300; number++)
      expect(await legacy.bucket(`bucket-${number}`)?.head('a/b')).toBeUndefined();
    await legacy.bucket('bucket-0')?.put('a/b', Buffer.from('x'), { contentType });
    expect(await legacy.bucket('bucket-0')?.head('a/b')).toMatchObject({ size: 1 });
  });
});

it('off: there is no bucket', async () => {
  const legacy = open({ endpoint: undefined, ...nothing });
  expect([legacy.driver, legacy.bucket('agent_message')]).toEqual(['off', undefined]);
  await legacy.check();
  await legacy.close();
});

it('a server without keys is a fault that names both', () => {
  expect(() => open({ endpoint: 'http://127.0.0.1:1', ...nothing })).toThrow(ConfigFault);
  expect(() => open({ endpoint: 'http://127.0.0.1:1', ...nothing })).toThrow(
    /LEGACY_S3_ACCESS_KEY_ID.*LEGACY_S3_SECRET_ACCESS_KEY/,
  );
});

it('a server that does not respond fails every call', async () => {
  const legacy = open({ endpoint: 'http://127.0.0.1:1', region: 'auto', accessKeyId: 'a', secretAccessKey: 'b' });
  await expect(legacy.bucket('agent_message')?.head('a/b')).rejects.toMatchObject({ code: 'engine_unavailable' });
  await expect(legacy.check()).rejects.toThrow();
  await legacy.close();
});

describe.skipIf(skipWithoutS3)('a real S3 server', () => {
  it('opens the named bucket, with its own URLs', async () => {
    const made = await openTestBucket();
    const legacy = open(testServer);
    try {
      const files = legacy.bucket(made.bucket);
      await files?.put('a/b.txt', Buffer.from('old'), { contentType, size: 3 });
      expect(await made.objects.head('a/b.txt')).toMatchObject({ size: 3 });
      const url = files?.readAddress('a/b.txt', { expiresInS: 60, contentType: 'text/html' }) ?? '';
      expect(url.startsWith(`${testServer.endpoint}/${made.bucket}/a/b.txt?`)).toBe(true);
      const answer = await fetch(url);
      expect([await answer.text(), answer.headers.get('content-type')]).toEqual(['old', 'text/html']);
      // The default's bucket need not be there.
      await legacy.check();
    } finally {
      await Promise.all([made.close(), legacy.close()]);
    }
  });

  it.each(['agent_message', 'no-such-bucket', 'UPPER_case', 'x'.repeat(255)])(
    'reads a bucket %s that is not there as an empty one',
    async (name) => {
      const legacy = open(testServer);
      const files = legacy.bucket(`absent-${name}`.slice(0, 255));
      expect(await files?.head('a/b')).toBeUndefined();
      expect(files && (await listed(files, 'a/'))).toEqual([]);
      expect(await files?.remove(['a/b'])).toEqual({ removed: ['a/b'], failed: [] });
      await legacy.close();
    },
  );

  it.each(['...', '.hidden', '-a1', 'ab', '_abc', 'objects', 'public'])('has no bucket %s', async (name) => {
    const legacy = open(testServer);
    expect(legacy.bucket(name)).toBeUndefined();
    await legacy.close();
  });

  it('refuses wrong keys at the check', async () => {
    const legacy = open({ ...testServer, secretAccessKey: 'wrong' });
    await expect(legacy.check()).rejects.toThrow();
    await legacy.close();
  });
});
