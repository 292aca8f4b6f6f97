import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { photo } from '../../../test/image/images.fixture.ts';
import { pdqOf } from './pdq.ts';
import { createMatcher, type Matcher } from './screening.ts';

describe('the screening thread', () => {
  let folder: string;
  let matcher: Matcher;
  const raster = photo(90, 70);
  const { hex } = pdqOf(raster);
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-matcher-'));
    await writeFile(join(folder, 'pdq.txt'), hex.toUpperCase());
    matcher = createMatcher(folder);
  });
  afterAll(async () => {
    await matcher.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('computes the same hashes as this thread, and finds listed ones', async () => {
    expect(await matcher.hash(raster)).toEqual(pdqOf(raster));
    expect(await matcher.findNearest(hex)).toEqual({ list: 'pdq', digest: hex, distance: 0 });
    expect(await matcher.findNearest('f'.repeat(64))).toBeUndefined();
    expect(await matcher.findExact({ sha256: hex, md5: hex.slice(32) })).toBeUndefined();
  });

  it('returns the right result to each concurrent request', async () => {
    const sizes = Array.from({ length: 20 }, (_, at) => photo(40 + at, 30));
    const hashes = await Promise.all(sizes.map((one) => matcher.hash(one)));
    expect(hashes).toEqual(sizes.map(pdqOf));
  });

  it('continues after a task that fails', async () => {
    await writeFile(join(folder, 'md5.txt'), 'broken');
    await expect(matcher.findExact({ sha256: hex, md5: hex.slice(32) })).rejects.toThrow('line 1 of md5.txt');
    expect(await matcher.findNearest(hex)).toMatchObject({ distance: 0 });
    await rm(join(folder, 'md5.txt'));
  });

  it('rejects waiting calls when it is closed, and starts again for the next call', async () => {
    const waiting = expect(matcher.hash(raster)).rejects.toThrow('closed');
    await matcher.close();
    await waiting;
    expect((await matcher.hash(raster)).hex).toBe(hex);
  });
});
