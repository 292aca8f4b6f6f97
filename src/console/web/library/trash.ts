/** The trash: assets and conversations stay there for 30 days, and can be restored. */
import { useQueryClient } from '@tanstack/react-query';
import type { Asset, AssetPage } from '../../../client/media/api.ts';
import { plural } from '../parts/figures.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { type User, useUser } from '../user.tsx';
import { readNewest, useCached } from './assets.ts';

const keptDays = 30;
const dayMs = 86_400_000;
/** One call changes at most this many assets. */
const mostAtOnce = 1000;

/** At least one day. */
export function daysLeft(trashedAt: string | null | undefined): string {
  const days = Math.ceil(keptDays - (trashedAt ? (Date.now() - Date.parse(trashedAt)) / dayMs : 0));
  return `${plural(Math.max(1, days), 'day')} left`;
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
  assets.length === 1 ? `${done}.` : `${plural(assets.length, 'item')} ${done.toLowerCase()}.`;

const idsOf = (assets: Assets) => assets.map(({ assetId }) => assetId);

/** Shows each change at once, and takes it back if the service refuses it. */
export function useTrash() {
  const user = useUser();
  const queries = useQueryClient();
  const { forget, markTrashed } = useCached();
  const queryKey = ['assets', user.id];
  /** Returns what puts every listing back as it was. `undefined`: the service has refused the change. */
  async function change(ids: readonly string[], isTrashed: boolean): Promise<(() => void) | undefined> {
    const before = queries.getQueriesData({ queryKey });
    const putBack = () => {
      for (const [key, data] of before) queries.setQueryData(key, data);
      markTrashed(ids, !isTrashed);
    };
    forget(ids);
    markTrashed(ids, isTrashed);
    try {
      await move(user, ids, isTrashed);
      return putBack;
    } catch (error) {
      putBack();
      notifyFailure(error);
      return undefined;
    }
  }
  return {
    async trash(assets: Assets): Promise<void> {
      const ids = idsOf(assets);
      const putBack = await change(ids, true);
      if (putBack === undefined) return;
      const undo = async () => {
        await move(user, ids, false);
        putBack();
        await readNewest(queries, user);
      };
      // Listings that are not shown are read again when they are.
      void queries.invalidateQueries({ queryKey, refetchType: 'none' });
      notify(countOf(assets, 'Moved to the trash'), { undo: () => undo().catch(notifyFailure) });
    },
    async restore(assets: Assets): Promise<void> {
      if ((await change(idsOf(assets), false)) === undefined) return;
      void queries.resetQueries({ queryKey, type: 'inactive' });
      notify(countOf(assets, 'Restored'));
    },
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
