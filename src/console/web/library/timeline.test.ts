import { describe, expect, it } from 'vitest';
import type { Asset } from '../../../client/media/api.ts';
import { arrange, labelOf, placeBeside, rowOf } from './timeline.ts';

const now = new Date(2026, 10, 22, 12);

const shape = { width: 208, height: 100, gap: 8 };

function assetAt(daysAgo: number, place: number, width = 1, height = 1): Asset {
  const createdAt = new Date(now);
  createdAt.setDate(now.getDate() - daysAgo);
  return {
    assetId: `asset-${place}`,
    ownerId: 'owner',
    scopeKind: 'library',
    scopeId: 'uploads',
    kind: 'image',
    mime: 'image/png',
    byteSize: 1,
    width,
    height,
    durationMs: null,
    blurhash: null,
    animated: false,
    thumbAssetId: null,
    storageKey: '',
    sha256: null,
    prompt: null,
    model: null,
    generated: null,
    name: null,
    favorite: false,
    published: false,
    generation: null,
    labels: [],
    createdAt: createdAt.toISOString(),
    trashedAt: null,
  };
}

describe('the timeline', () => {
  it('shows each day with its assets, in rows of the width of the window', () => {
    const rows = arrange(
      [0, 0, 0, 1, 400].map((days, place) => assetAt(days, place)),
      shape,
      now,
    );
    const shown = rows.map((row) => (row.kind === 'date' ? row.label : row.assets.map(({ assetId }) => assetId)));
    expect(shown).toEqual([
      'Today',
      ['asset-0', 'asset-1'],
      ['asset-2'],
      'Yesterday',
      ['asset-3'],
      labelOf(new Date(assetAt(400, 4).createdAt), now),
      ['asset-4'],
    ]);
    expect(arrange([], shape, now)).toEqual([]);
  });

  it('fills each row but the last of a day, and gives each tile the shape of its asset', () => {
    const shapes = [
      [4000, 1500],
      [1500, 4000],
      [3000, 2000],
      [2000, 3000],
      [1000, 1000],
      [9000, 100],
      [600, 400],
    ] as const;
    const assets = shapes.map(([width, height], place) => assetAt(0, place, width, height));
    const rows = arrange(assets, { width: 600, height: 150, gap: 8 }, now).filter((row) => row.kind === 'tiles');
    expect(rows.flatMap(({ assets: tiles }) => tiles)).toEqual(assets);
    for (const { widths, height } of rows.slice(0, -1)) {
      expect(widths.reduce((all, width) => all + width, 0) + 8 * (widths.length - 1)).toBe(600);
      expect(height).toBeLessThanOrEqual(150);
    }
    const [first] = rows;
    expect((first?.widths[0] ?? 0) / (first?.height ?? 1)).toBeCloseTo(4000 / 1500, 1);
    expect(rows.at(-1)).toMatchObject({ height: 150, widths: [225] });
  });

  it('moves up and down to the nearest tile, across days', () => {
    const assets = [assetAt(0, 0, 2, 1), assetAt(0, 1), assetAt(1, 2), assetAt(1, 3, 2, 1), assetAt(2, 4)];
    const rows = arrange(assets, { width: 308, height: 100, gap: 8 }, now);
    expect(placeBeside(rows, 1, 1, 8)).toBe(3);
    expect(placeBeside(rows, 2, -1, 8)).toBe(0);
    expect(placeBeside(rows, 3, 1, 8)).toBe(4);
    expect([placeBeside(rows, 0, -1, 8), placeBeside(rows, 4, 1, 8)]).toEqual([0, 4]);
  });

  it('finds the row of each asset', () => {
    const assets = Array.from({ length: 500 }, (_, place) => assetAt(Math.floor(place / 7), place));
    for (const width of [50, 320, 1100]) {
      const rows = arrange(assets, { ...shape, width }, now);
      const found = assets.map(({ assetId }, place) => {
        const row = rows[rowOf(rows, place)];
        return row?.kind === 'tiles' && row.assets.some((asset) => asset.assetId === assetId);
      });
      expect(found).not.toContain(false);
    }
  });

  it('names the year of days in other years only', () => {
    expect(labelOf(new Date(2025, 10, 22), now)).toMatch(/2025/);
    expect(labelOf(new Date(2026, 0, 2), now)).not.toMatch(/2026/);
  });
});
