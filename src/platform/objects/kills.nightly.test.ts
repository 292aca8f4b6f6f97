import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isNightly } from '../../../test/lane.fixture.ts';
import { listed } from '../../../test/platform/objects/objects.fixture.ts';
import { openTestBucket, skipWithoutS3 } from '../../../test/platform/objects/s3.fixture.ts';
import { bytesOf, openTarget, type Target } from '../../../test/platform/objects/writing.child.ts';
import type { Objects } from './objects.ts';

/** Returns the last write that the process reported before it was killed. */
async function writeAndKill(target: Target): Promise<number> {
  const program = fileURLToPath(new URL('../../../test/platform/objects/writing.child.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, JSON.stringify(target)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child.stdout, 'data');
  await sleep(Math.random() * 300);
  child.kill('SIGKILL');
  await once(child, 'close');
  return Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1));
}

async function read(objects: Objects, key: string): Promise<Buffer> {
  const body = await objects.get(key);
  if (body === undefined) throw new Error(`${key} is gone`);
  return buffer(body.stream);
}

async function expectWholeObjects(target: Target, acknowledged: number): Promise<void> {
  const { objects, close } = openTarget(target);
  const seen = new Set<number>();
  for (const { key } of await listed(objects, '')) {
    const bytes = await read(objects, key);
    const at = key === 'same' ? acknowledged : Number(key.split('/').at(-1));
    // Of the last one it is not known whether it was still done.
    const possible = key === 'same' ? [acknowledged, acknowledged + 1] : [at];
    expect(possible.some((write) => bytesOf(write).equals(bytes))).toBe(true);
    if (key.startsWith('new/')) seen.add(at);
  }
  for (let at = 0; at <= acknowledged; at++) expect(seen.has(at)).toBe(true);
  // What the killed process had begun is no obstacle to the next.
  const next = acknowledged + 1;
  await objects.put(`new/${next % 5}/${next}`, bytesOf(next), { contentType: 'application/octet-stream' });
  expect((await read(objects, `new/${next % 5}/${next}`)).equals(bytesOf(next))).toBe(true);
  await close();
}

test('files: a process killed while it writes leaves whole objects or none', async () => {
  for (let round = 0; round < (isNightly ? 6 : 2); round++) {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-kills-'));
    const target: Target = { driver: 'files', folder };
    await expectWholeObjects(target, await writeAndKill(target));
    await rm(folder, { recursive: true });
  }
});

test.skipIf(skipWithoutS3)('S3: a process killed while it writes leaves whole objects or none', async () => {
  for (let round = 0; round < (isNightly ? 3 : 1); round++) {
    const { bucket, close } = await openTestBucket();
    const target: Target = { driver: 's3', bucket };
    await expectWholeObjects(target, await writeAndKill(target));
    await close();
  }
});
