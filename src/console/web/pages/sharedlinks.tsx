import { Copy, ExternalLink, MessageSquare } from 'lucide-react';
import { Link } from 'wouter';
import { AssetImage } from '../library/assetimage.tsx';
import { useAsset } from '../library/assets.ts';
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
  const name = share.threadId === null ? 'Image or video' : 'Conversation';
  return (
    <>
      {share.assetId === null ? (
        <MessageSquare size={20} strokeWidth={1.75} aria-hidden="true" />
      ) : (
        <Thumb assetId={share.assetId} />
      )}
      <span className="about">
        <Link href={share.threadId === null ? `/library/${share.assetId}` : `/studio/${share.threadId}`}>{name}</Link>
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
