import { RotateCcw, Trash2 } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Asset } from '../../../client/media/api.ts';
import { useAssets } from '../library/assets.ts';
import { useChoosing } from '../library/choosing.ts';
import { SelectionBar, useTileSize } from '../library/filterbar.tsx';
import { Timeline } from '../library/grid.tsx';
import { Lightbox } from '../library/lightbox.tsx';
import '../library/library.css';
import { stepsIn } from '../library/stage.tsx';
import { daysLeft, useTrash } from '../library/trash.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Button } from '../parts/iconbutton.tsx';
import { Listing } from '../parts/listing.tsx';
import { Empty, Loading, PageHead, Pending } from '../parts/states.tsx';
import { useIsNarrow } from '../shell/browser.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useThreadCalls, useThreads } from '../studio/threads.ts';

export function Trash() {
  const trash = useTrash();
  const threads = useThreads('', 'true');
  const calls = useThreadCalls();
  const listing = useAssets({ trashed: 'true' });
  const [size] = useTileSize();
  const isNarrow = useIsNarrow();
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = listing;
  const assets = useMemo(() => listing.data?.pages.flatMap((page) => page.assets) ?? [], [listing.data]);
  const choosing = useChoosing(assets);
  const [open, setOpen] = useState<Asset>();
  const onMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  const isRead = listing.data !== undefined && threads.threads !== undefined;
  const isEmpty = isRead && assets.length === 0 && threads.threads?.length === 0;
  const deleteForGood = (work: Promise<void>) =>
    work.then(() => {
      choosing.clear();
      notify('Permanently deleted.');
    }, notifyFailure);
  async function empty() {
    await calls.deleteForGood(await readAll(threads));
    await trash.empty();
  }
  return (
    <div className="library trash">
      <PageHead title="Trash">
        Deleted items stay here for 30 days. Until they are deleted permanently, they count toward your storage.
      </PageHead>
      {!isRead && (
        <Pending
          error={listing.error ?? threads.error}
          retry={() => Promise.all([listing.refetch(), threads.refetch()])}
          what="Reading the trash"
        />
      )}
      {isEmpty && (
        <Empty Icon={Trash2} title="The trash is empty.">
          <p>Deleted images, videos and conversations appear here, and can be restored.</p>
          <Link className="button" href="/library">
            Open the library
          </Link>
        </Empty>
      )}
      {isRead && !isEmpty && (
        <SelectionBar
          label="Trash"
          choosing={choosing}
          of={assets.length}
          hint="Select what you want to keep or delete."
        >
          {choosing.chosen.size > 0 ? (
            <>
              <Button
                Icon={RotateCcw}
                text="Restore"
                onClick={() => {
                  void trash.restore(choosing.assets);
                  choosing.clear();
                }}
              />
              <Confirm
                label="Delete permanently"
                question="This cannot be undone."
                onConfirm={() => deleteForGood(trash.deleteForGood(choosing.assets))}
              />
            </>
          ) : (
            <Confirm
              label="Empty the trash"
              question="Everything in the trash is deleted permanently."
              onConfirm={() => deleteForGood(empty())}
            />
          )}
        </SelectionBar>
      )}
      {(threads.threads?.length ?? 0) > 0 && (
        <section aria-labelledby="trashed-threads">
          <h2 id="trashed-threads">Conversations</h2>
          <Listing
            pages={threads}
            label="Conversations"
            className="trashed"
            itemsOf={(page) => page.threads}
            keyOf={({ threadId }) => threadId}
            empty={null}
          >
            {(thread) => (
              <>
                <span className="about">
                  <span className="strong cut">{thread.title}</span>
                  <span className="quiet small">{daysLeft(thread.trashedAt)}</span>
                </span>
                <Button
                  Icon={RotateCcw}
                  text="Restore"
                  aria-label={`Restore “${thread.title}”`}
                  onClick={() => calls.change(thread.threadId, { trashed: false }).catch(notifyFailure)}
                />
                <Confirm
                  label="Delete permanently"
                  icon={{ Icon: Trash2, label: `Delete “${thread.title}” permanently`, title: 'Delete permanently' }}
                  question={`Delete “${thread.title}” permanently?`}
                  onConfirm={() => deleteForGood(calls.deleteForGood([thread]))}
                />
              </>
            )}
          </Listing>
        </section>
      )}
      {assets.length > 0 && (
        <section aria-label="Images and videos">
          <Timeline
            assets={assets}
            choosing={choosing}
            size={size}
            hasMore={hasNextPage}
            onMore={onMore}
            onOpen={setOpen}
            onRestore={(asset) => trash.restore([asset])}
          />
        </section>
      )}
      {isFetchingNextPage && <Loading what="Reading more" />}
      {open && (
        <Lightbox
          assetId={open.assetId}
          known={open}
          steps={stepsIn(assets, assets.indexOf(open), setOpen)}
          onClose={() => setOpen(undefined)}
        >
          <span className="quiet small">{daysLeft(open.trashedAt)}</span>
          <Button
            Icon={RotateCcw}
            text="Restore"
            onClick={() => trash.restore([open]).then(() => setOpen(undefined))}
          />
          <Confirm
            label="Delete permanently"
            {...(isNarrow && { icon: { Icon: Trash2, label: 'Delete permanently' } })}
            question="This cannot be undone."
            onConfirm={() => deleteForGood(trash.deleteForGood([open])).then(() => setOpen(undefined))}
          />
        </Lightbox>
      )}
    </div>
  );
}

/** Those too that the page does not show yet. */
async function readAll({ threads, hasNextPage, fetchNextPage }: ReturnType<typeof useThreads>) {
  let all = threads ?? [];
  for (let hasMore = hasNextPage; hasMore; ) {
    const { data, hasNextPage: hasAnother } = await fetchNextPage();
    all = data?.pages.flatMap((page) => page.threads) ?? all;
    hasMore = hasAnother;
  }
  return all;
}
