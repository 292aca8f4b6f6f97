import { useQuery } from '@tanstack/react-query';
import { Copy, ExternalLink, MessageSquare } from 'lucide-react';
import { Link } from 'wouter';
import type { Thread } from '../../../client/agent/api.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { nameOf, useAsset } from '../library/assets.ts';
import { copyLink, endShare, type Share, useRereadShares, useShares } from '../library/shares.ts';
import { useSigned } from '../library/signing.ts';
import { Confirm } from '../parts/confirm.tsx';
import { momentOf } from '../parts/figures.tsx';
import { IconButton } from '../parts/iconbutton.tsx';
import { Empty, Pending } from '../parts/states.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import '../library/library.css';

/** Everything that others can see by a link. */
export function SharedLinks() {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useShares();
  const shares = data?.pages.flatMap((page) => page.shares);
  return (
    <div className="library">
      <header className="page">
        <h1>Shared links</h1>
        <Link href="/library?shared=1">Published in Explore</Link>
      </header>
      {shares === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the links" />
      ) : shares.length === 0 ? (
        <Empty title="You share nothing by a link.">
          <p>Open an image, a video or a conversation, and choose “Share”.</p>
        </Empty>
      ) : (
        <ul className="lines sharedlinks" aria-label="Shared links">
          {shares.map((share) => (
            <li key={share.id}>
              <Line share={share} />
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Show more
        </button>
      )}
    </div>
  );
}

function Line({ share }: { readonly share: Share }) {
  const user = useUser();
  const reread = useRereadShares();
  const { assetId, threadId } = share;
  return (
    <>
      {assetId === null ? (
        <span className="thumb">
          <MessageSquare size={20} strokeWidth={1.75} aria-hidden="true" />
        </span>
      ) : (
        <Thumb assetId={assetId} />
      )}
      <span className="about">
        {threadId === null ? (
          <Link href={`/library/${assetId}`}>
            <AssetName assetId={assetId ?? ''} />
          </Link>
        ) : (
          <Link href={`/studio/${threadId}`}>
            <ThreadName threadId={threadId} />
          </Link>
        )}
        <span className="quiet small">
          Shared {momentOf(share.createdAt)}
          {share.expiresAt !== null && `, until ${momentOf(share.expiresAt)}`}
        </span>
      </span>
      <IconButton label="Copy the link" Icon={Copy} onClick={() => copyLink(share.url).catch(notifyFailure)} />
      <a className="button" href={share.url} target="_blank" rel="noreferrer">
        <ExternalLink size={16} strokeWidth={1.75} aria-hidden="true" />
        Open
      </a>
      <Confirm
        label="End sharing"
        question="The link stops working."
        onConfirm={() =>
          endShare(user, share.id).then(() => {
            notify('The link no longer works.');
            reread();
          }, notifyFailure)
        }
      />
    </>
  );
}

/** The name of the file, or the first words of the prompt. */
function AssetName({ assetId }: { readonly assetId: string }) {
  const { data: asset, isError } = useAsset(assetId, undefined);
  if (asset === undefined) return isError ? 'Deleted image or video' : '…';
  return asset.name ?? asset.prompt?.slice(0, 120) ?? nameOf(asset);
}

function ThreadName({ threadId }: { readonly threadId: string }) {
  const user = useUser();
  const { data: title, isError } = useQuery({
    queryKey: ['thread title', user.id, threadId],
    queryFn: async ({ signal }) => (await user.json<Thread>('agent', `/threads/${threadId}`, { signal })).title,
  });
  if (title === undefined) return isError ? 'Deleted conversation' : '…';
  return `Conversation: ${title || 'Untitled'}`;
}

function Thumb({ assetId }: { readonly assetId: string }) {
  const { data: asset } = useAsset(assetId, undefined);
  const isVideo = asset?.mime.startsWith('video/') === true;
  const { data } = useSigned(isVideo ? 'video' : 'image', asset === undefined ? null : assetId);
  return (
    <span className="thumb">
      <AssetImage url={data?.thumbUrl} alt="" blurhash={asset?.blurhash} />
    </span>
  );
}
