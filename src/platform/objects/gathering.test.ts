import { describe, expect, it } from 'vitest';
import { gather } from './gathering.ts';
import type { ListedObject } from './objects.ts';

/** Lists as the drivers do, and notes what was listed and how many keys were read of it. */
function bucketOf(keys: readonly string[]) {
  const listed: string[] = [];
  let read = 0;
  return {
    listed,
    read: () => read,
    list: async function* (prefix: string) {
      listed.push(prefix);
      for (const key of keys.toSorted()) {
        if (!key.startsWith(prefix)) continue;
        read += 1;
        yield { key, size: 1, etag: '"x"', modifiedAt: new Date(0) } satisfies ListedObject;
      }
    },
  };
}

const numbered = (count: number, name: (index: string) => string) =>
  Array.from({ length: count }, (_, index) => name(String(index).padStart(5, '0')));

describe('gathering', () => {
  it('finds every key of every beginning, and no other', async () => {
    const bucket = bucketOf([
      'a/1.wm.jpg',
      'a/1.wm.mp4',
      'a/10.wm.jpg',
      'a/2.wm',
      'a/2.wm.jpg',
      'a/3',
      'b/1.wm.jpg',
      'b/4',
    ]);
    const found = await gather(bucket, ['a/2.wm.', 'a/1.wm.', 'b/1.wm.', 'c/1.wm.', 'a/2.wm.']);
    expect([...found].sort()).toEqual(['a/1.wm.jpg', 'a/1.wm.mp4', 'a/2.wm.jpg', 'b/1.wm.jpg']);
    expect(bucket.listed.length).toBe(3);
  });

  it('lists nothing without prefixes', async () => {
    const bucket = bucketOf(['a/1']);
    expect(await gather(bucket, [])).toEqual([]);
    expect(bucket.listed).toEqual([]);
  });

  it('lists a thousand of one folder once', async () => {
    const bucket = bucketOf(numbered(1000, (index) => `a/${index}.x`));
    expect(
      (
        await gather(
          bucket,
          numbered(1000, (index) => `a/${index}.`),
        )
      ).length,
    ).toBe(1000);
    expect(bucket.listed.length).toBe(1);
  });

  it('lists each prefix separately if many other keys are in between, and finds the same', async () => {
    const crowd = numbered(20_000, (index) => `a/${index}.x`);
    const bucket = bucketOf(crowd);
    const starts = ['a/00000.', 'a/00500.', 'a/09999.', 'a/10000.', 'a/19999.', 'a/30000.'];
    expect([...(await gather(bucket, starts))].sort()).toEqual(starts.slice(0, 5).map((start) => `${start}x`));
    expect(bucket.read()).toBeLessThan(1200);
    expect(bucket.listed).toEqual(['a/', ...starts]);
  });

  it('passes errors on', async () => {
    const failing = {
      list: async function* (): AsyncGenerator<ListedObject> {
        await Promise.reject(new Error('no'));
        yield* [];
      },
    };
    await expect(gather(failing, ['a/1', 'a/2'])).rejects.toThrow('no');
  });
});
