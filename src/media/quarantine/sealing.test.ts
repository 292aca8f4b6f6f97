import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SealBroken, seal, sealedSize, unseal } from './quarantine.ts';

const key = randomBytes(32);
const chunk = 256 * 1024;

async function* inParts(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

const sealed = (bytes: Buffer, name = 'a') => collect(seal(key, name, inParts(bytes, 100_000)));
const opened = (bytes: Buffer, { name = 'a', with: used = key } = {}) =>
  collect(unseal(used, name, inParts(bytes, 77_777)));

describe('content of', () => {
  it.each([0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 5])('%i bytes is the same again', async (size) => {
    const bytes = randomBytes(size);
    const locked = await sealed(bytes);
    expect(locked.length).toBe(sealedSize(size));
    expect((await opened(locked)).equals(bytes)).toBe(true);
  });
});

it('encrypts the same bytes differently each time, and shows none of them', async () => {
  const bytes = Buffer.alloc(1000, 'secret ');
  const [one, other] = [await sealed(bytes), await sealed(bytes)];
  expect(one.equals(other)).toBe(false);
  expect(one.includes('secret')).toBe(false);
});

function flipped(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}

describe('returns nothing that is not authentic:', () => {
  const bytes = randomBytes(3 * chunk);
  const wide = chunk + 16;
  const changes: [string, (locked: Buffer) => Buffer][] = [
    ['a changed byte', (locked) => flipped(locked, 50)],
    ['a changed salt', (locked) => flipped(locked, 5)],
    ['another format', (locked) => flipped(locked, 0)],
    ['a missing end', (locked) => locked.subarray(0, 20 + 2 * wide)],
    ['a cut chunk', (locked) => locked.subarray(0, locked.length - 1)],
    ['only its header', (locked) => locked.subarray(0, 20)],
    ['nothing', () => Buffer.alloc(0)],
    ['an addition', (locked) => Buffer.concat([locked, Buffer.alloc(40)])],
    [
      'chunks in another order',
      (locked) =>
        Buffer.concat([
          locked.subarray(0, 20),
          locked.subarray(20 + wide, 20 + 2 * wide),
          locked.subarray(20, 20 + wide),
          locked.subarray(20 + 2 * wide),
        ]),
    ],
  ];

  it.each(changes)('%s', async (_title, change) => {
    await expect(opened(change(await sealed(bytes)))).rejects.toThrow(SealBroken);
  });

  it('another key or name', async () => {
    const locked = await sealed(bytes);
    await expect(opened(locked, { with: randomBytes(32) })).rejects.toThrow(SealBroken);
    await expect(opened(locked, { name: 'b' })).rejects.toThrow(SealBroken);
  });
});
