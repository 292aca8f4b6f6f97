import { describe, expect, it } from 'vitest';
import type { Asset } from '../../../client/media/api.ts';
import { arrange, labelOf, rowOf } from './timeline.ts';

const now = new Date(2026, 10, 22, 12);

function assetAt(daysAgo: number, place: number): Asset {
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
    width: 1,
    height: 1,
    durationMs: null,
    blurhash: null,
    thumbAssetId: null,
    storageKey: '',
    sha256: null,
    prompt: null,
    model: null,
    generated: null,
    name: null,
    favorite: false,
    generation: null,
    labels: [],
    createdAt: createdAt.toISOString(),
  };
}

describe('the timeline', () => {
  it('shows each day with its assets, in rows of the width of the window', () => {
    const rows = arrange([0, 0, 0, 1, 400].map(assetAt), 2, now);
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
    expect(arrange([], 4, now)).toEqual([]);
  });

  it('finds the row of each asset', () => {
    const assets = Array.from({ length: 500 }, (_, place) => assetAt(Math.floor(place / 7), place));
    for (const columns of [1, 3, 10]) {
      const rows = arrange(assets, columns, now);
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
