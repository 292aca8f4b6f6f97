/** The trash: assets and conversations stay there for 30 days, and can be restored. */
import { useQueryClient } from '@tanstack/react-query';
import type { Asset, AssetPage } from '../../../client/media/api.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { type User, useUser } from '../user.tsx';
import { readNewest, useForget, useMarkTrashed } from './assets.ts';

const keptDays = 30;
const dayMs = 86_400_000;
/** One call changes at most this many assets. */
const mostAtOnce = 1000;

/** At least one day. */
export function daysLeft(trashedAt: string): string {
  const days = Math.ceil(keptDays - (Date.now() - Date.parse(trashedAt)) / dayMs);
  return days <= 1 ? '1 day left' : `${days} days left`;
}

export async function inLots(
  ids: readonly string[],
  send: (lot: readonly string[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < ids.length; start += mostAtOnce) await send(ids.slice(start, start + mostAtOnce));
}

const move = (user: User, ids: readonly string[], trashed: boolean) =>
  inLots(ids, (lot) => user.json('media', '/v1/trash', { method: 'POST', json: { ids: lot, trashed } }));

const deleteForGood = (user: User, ids: readonly string[]) =>
  inLots(ids, (lot) => user.send('media', '/v1/assets', { method: 'DELETE', json: { ids: lot } }));

type Assets = readonly Pick<Asset, 'assetId'>[];
const countOf = (assets: Assets, done: string) =>
  assets.length === 1 ? `${done}.` : `${assets.length} items ${done.toLowerCase()}.`;

/** Shows each change at once, and takes it back if the service refuses it. */
export function useTrash() {
  const user = useUser();
  const queries = useQueryClient();
  const forget = useForget();
  const markTrashed = useMarkTrashed();
  const idsOf = (assets: Assets) => assets.map(({ assetId }) => assetId);
  /** Puts every listing back as it was if the service refuses it. */
  async function change(assets: Assets, isTrashed: boolean, done: () => void) {
    const before = queries.getQueriesData({ queryKey: ['assets', user.id] });
    forget(idsOf(assets));
    markTrashed(idsOf(assets), isTrashed);
    try {
      await move(user, idsOf(assets), isTrashed);
      done();
    } catch (error) {
      for (const [key, data] of before) queries.setQueryData(key, data);
      markTrashed(idsOf(assets), !isTrashed);
      notifyFailure(error);
    }
  }
  /** Listings that are not shown are read again when they are. */
  const reread = () => queries.invalidateQueries({ queryKey: ['assets', user.id], refetchType: 'none' });
  const restore = (assets: Assets) =>
    change(assets, false, () => {
      void queries.resetQueries({ queryKey: ['assets', user.id], type: 'inactive' });
      notify(countOf(assets, 'Restored'));
    });
  return {
    trash(assets: Assets): void {
      const before = queries.getQueriesData({ queryKey: ['assets', user.id] });
      const undo = () =>
        move(user, idsOf(assets), false).then(() => {
          for (const [key, data] of before) queries.setQueryData(key, data);
          markTrashed(idsOf(assets), false);
          return readNewest(queries, user);
        }, notifyFailure);
      void change(assets, true, () => {
        void reread();
        notify(countOf(assets, 'Moved to the trash'), { undo: () => void undo() });
      });
    },
    restore,
    /** Throws. */
    async deleteForGood(assets: Assets): Promise<void> {
      await deleteForGood(user, idsOf(assets));
      forget(idsOf(assets));
    },
    /** Deletes page by page what is in the trash. Throws. */
    async empty(): Promise<void> {
      for (;;) {
        const { assets } = await user.json<AssetPage>('media', '/v1/assets?trashed=true&limit=200');
        if (assets.length === 0) break;
        await deleteForGood(user, idsOf(assets));
        forget(idsOf(assets));
      }
    },
  };
}
