/** Archives, as a program that is not ours reads them. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { type ZipFile, zip } from './zip.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zip-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const fileOf = (name: string, text: string, isLarge = false, compressed = deflateRawSync(text)): ZipFile => {
  const bytes = Buffer.from(text);
  return {
    name,
    modifiedAt: new Date('2026-11-27T10:20:30Z'),
    isLarge,
    compressed: iterate([compressed]),
    facts: () => ({ crc32: crc32(bytes), bytes: bytes.length }),
  };
};

async function write(name: string, files: Iterable<ZipFile>): Promise<string> {
  const path = join(folder, name);
  const pieces: Buffer[] = [];
  for await (const piece of zip(iterate(files))) pieces.push(piece);
  await writeFile(path, Buffer.concat(pieces));
  return path;
}

async function* iterate<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

const run = (program: string, ...args: string[]) =>
  spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });

describe.skipIf(skipWithout('unzip'))('an archive', () => {
  it('has its files, empty and large ones too, with their names', async () => {
    const path = await write('some.zip', [
      fileOf('a.json', '{}'),
      fileOf('empty', ''),
      fileOf('größe.txt', 'big', true),
    ]);
    expect(run('unzip', '-t', path)).toMatchObject({ status: 0, stderr: '' });
    expect(run('unzip', '-p', path, 'größe.txt').stdout).toBe('big');
    expect(run('unzip', '-p', path, 'a.json').stdout).toBe('{}');
  });

  it('has more files than the short form counts', async () => {
    const same = deflateRawSync('same');
    const names = Array.from({ length: 65_540 }, (_, index) => fileOf(`${index}.txt`, 'same', false, same));
    const path = await write('many.zip', names);
    expect(run('unzip', '-Zt', path).stdout).toContain('65540 files');
    expect(run('unzip', '-p', path, '65539.txt').stdout).toBe('same');
  });
});
