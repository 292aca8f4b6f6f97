import { expect, it, vi } from 'vitest';

vi.mock('../shell/notices.ts', () => ({ notify: vi.fn() }));
vi.mock('./downloading.ts', () => ({ fileNameOf: vi.fn(), signDownload: vi.fn() }));
const { uniqueNames } = await import('./archive.ts');

it('gives files with the same name different ones', () => {
  expect(uniqueNames(['a.jpg', 'A.jpg', 'a.jpg', 'b', 'b', '.env'])).toEqual([
    ...['a.jpg', 'A (2).jpg', 'a (3).jpg', 'b', 'b (2)', '.env'],
  ]);
});
