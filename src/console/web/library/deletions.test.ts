import { expect, it, vi } from 'vitest';
import { deleteLater } from './deletions.ts';

const { notify, expiring } = vi.hoisted(() => ({ notify: vi.fn(), expiring: [] as (() => void)[] }));
vi.mock('../shell/notices.ts', () => ({
  notify,
  notifyWithUndo: (_text: string, { perform }: { readonly perform: () => void }) => expiring.push(perform),
}));

const ids = Array.from({ length: 2500 }, (_, index) => String(index));

it.each([
  [1, 'Nothing was deleted. The service cannot be reached.'],
  [3, 'Only 2000 items were deleted. The service cannot be reached.'],
])('reports how many items were deleted when call %i fails', async (failing, text) => {
  const lots: number[] = [];
  deleteLater('2500 items deleted.', ids, async ({ length }) => {
    if (lots.push(length) === failing) throw new Error('The service cannot be reached.');
  });
  expiring.pop()?.();
  await expect.poll(() => notify.mock.lastCall?.[0]).toBe(text);
  expect(lots).toEqual([1000, 1000, 500].slice(0, failing));
});
