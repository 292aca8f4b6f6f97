import { describe, expect, it } from 'vitest';
import type { Asset, AssetPage } from '../../../client/media/api.ts';
import { renew } from './renewing.ts';

const asset = (assetId: string, minute: number, thumbAssetId: string | null = null) =>
  ({ assetId, thumbAssetId, createdAt: `2026-11-22T12:${minute}:00.000Z` }) as Asset;
const page = (assets: readonly Asset[], nextCursor: string | null): AssetPage => ({ assets, nextCursor });
const idsOf = (pages: readonly AssetPage[]) => pages.map(({ assets }) => assets.map(({ assetId }) => assetId).join(''));

const known = {
  pages: [page([asset('d', 40), asset('c', 30)], 'c'), page([asset('b', 20), asset('a', 10)], null)],
  pageParams: ['', 'c'],
};

describe('the newest page', () => {
  it('adds new assets, and preserves the older pages', () => {
    const { pages } = renew(known, page([asset('e', 50), asset('d', 40)], 'd'));
    expect(idsOf(pages)).toEqual(['edc', 'ba']);
  });

  it('removes deleted assets', () => {
    const { pages } = renew(known, page([asset('d', 40), asset('b', 20)], 'b'));
    expect(idsOf(pages)).toEqual(['d', 'ba']);
  });

  it('replaces changed assets', () => {
    const { pages } = renew(known, page([asset('d', 40, 'poster'), asset('c', 30)], 'c'));
    expect(pages[0]?.assets[0]?.thumbAssetId).toBe('poster');
  });

  it('is all that is left if it does not meet the others', () => {
    const { pages, pageParams } = renew(known, page([asset('g', 58), asset('f', 55)], 'f'));
    expect([idsOf(pages), pageParams]).toEqual([['gf'], ['']]);
  });

  it('is the whole library if there is only one page', () => {
    expect(idsOf(renew(known, page([asset('c', 30)], null)).pages)).toEqual(['c', '']);
  });
});
