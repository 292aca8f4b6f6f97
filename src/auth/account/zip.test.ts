/** Archives, as a program that is not ours reads them. */
import { spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { type ZipFile, zip } from './zip.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zip-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const fileOf = (name: string, text: string, isLarge = false): ZipFile => {
  const bytes = Buffer.from(text);
  const compressed = deflateRawSync(bytes);
  return {
    name,
    modifiedAt: new Date('2026-11-27T10:20:30Z'),
    isLarge,
    compressed: (async function* () {
      yield compressed;
    })(),
    facts: () => ({ crc32: crc32(bytes), bytes: bytes.length }),
  };
};

async function write(name: string, files: Iterable<ZipFile>): Promise<string> {
  const path = join(folder, name);
  await pipeline(Readable.from(zip(Readable.from(files))), createWriteStream(path));
  return path;
}

const run = (program: string, ...args: string[]) =>
  spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

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
    const names = Array.from({ length: 65_540 }, (_, index) => fileOf(`${index}.txt`, String(index)));
    const path = await write('many.zip', names);
    expect(run('unzip', '-tqq', path)).toMatchObject({ status: 0, stderr: '' });
    expect(run('unzip', '-p', path, '65539.txt').stdout).toBe('65539');
  });
});
