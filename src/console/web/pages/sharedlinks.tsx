import { Copy, Ellipsis, ExternalLink, Link2, MessageSquare, Pencil, Unlink } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { fromAmong } from '../library/actions.ts';
import { coverOf, linkOfAlbum, useAlbums } from '../library/albums.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { isVideo, useAsset } from '../library/assets.ts';
import { type LibraryDialog, openDialog } from '../library/dialogs.ts';
import { EndSharing } from '../library/sharedialog.tsx';
import { copyLink, type Share, useShares } from '../library/shares.ts';
import { Thumb } from '../library/tile.tsx';
import { momentOf, plural, When } from '../parts/figures.tsx';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { Listing } from '../parts/listing.tsx';
import { Empty, PageHead } from '../parts/states.tsx';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { notifyFailure } from '../shell/notices.ts';
import '../library/library.css';

/** Everything that others can see by a link. */
export function SharedLinks() {
  const none = (
    <Empty Icon={Link2} title="You share nothing by a link.">
      <p>Open an image, a video, an album or a conversation, and choose “Share”.</p>
      <Link className="button" href="/library">
        Open the library
      </Link>
    </Empty>
  );
  return (
    <div className="library">
      <PageHead title="Shared links">
        Anyone with one of these links can see what is behind it, until you end it. Your library lists what is{' '}
        <Link href="/library?shared=1">published in Explore</Link>.
      </PageHead>
      <Listing
        pages={useShares()}
        label="Shared links"
        className="sharedlinks"
        itemsOf={({ shares }) => shares}
        keyOf={({ id }) => id}
        empty={none}
      >
        {(share, all) => <Line share={share} among={all.flatMap(({ assetId }) => assetId ?? [])} />}
      </Listing>
    </div>
  );
}

function Line({ share, among }: { readonly share: Share; readonly among: readonly string[] }) {
  const { data: asset } = useAsset(share.assetId ?? undefined);
  const album = useAlbums().data?.find(({ collectionId: id }) => id === share.collectionId);
  const [isEnding, setEnding] = useState(false);
  const { threadId, collectionId, items, newItems, url } = share;
  const [kind, href, dialog]: readonly [string, string, LibraryDialog | undefined] =
    threadId !== null
      ? ['Conversation', `/studio/${threadId}`, { kind: 'share-thread', threadId, title: '' }]
      : collectionId !== null
        ? ['Album', linkOfAlbum(collectionId), { kind: 'share-album', collectionId }]
        : [
            asset && isVideo(asset) ? 'Video' : 'Image',
            `/library/${share.assetId}`,
            asset && { kind: 'share', asset, prompt: asset.prompt },
          ];
  const name = share.title ?? kind;
  const facts = [
    collectionId === null ? kind : `${kind} of ${plural(items, 'item')}`,
    newItems > 0 && `${newItems} more not in the link`,
    asset?.published && 'published in Explore',
    share.showPrompt && asset?.prompt !== null && 'prompts shown',
    share.index && 'search engines allowed',
    share.expiresAt !== null && `until ${momentOf(share.expiresAt)}`,
  ];
  const shown = asset ?? (album && coverOf(album));
  return (
    <>
      <span className="thumb">
        {threadId !== null && items === 0 && <MessageSquare size={20} strokeWidth={1.75} aria-hidden="true" />}
        {threadId !== null && items > 0 && <AssetImage url={`${url}/0/thumb.webp`} alt="" />}
        {shown && <Thumb asset={shown} />}
      </span>
      <span className="about">
        <Link href={href} state={share.assetId === null ? undefined : fromAmong(among)}>
          {name}
        </Link>
        <span className="quiet small facts">
          {facts.map((fact) => fact && <span key={fact}>{fact}</span>)}
          <span>
            shared <When at={share.createdAt} />
          </span>
        </span>
      </span>
      <span className="does">
        {isEnding ? (
          <EndSharing id={share.id} onAnswered={() => setEnding(false)} />
        ) : (
          <>
            <Button
              Icon={Copy}
              text="Copy"
              className="onlyicon"
              aria-label={`Copy the link of ${name}`}
              onClick={() => copyLink(url).catch(notifyFailure)}
            />
            <Menu align="end" trigger={<IconButton label={`More for ${name}`} Icon={Ellipsis} />}>
              <MenuItem Icon={Pencil} onSelect={() => dialog && openDialog(dialog)}>
                Edit
              </MenuItem>
              <MenuItem Icon={ExternalLink} onSelect={() => window.open(url, '_blank', 'noreferrer')}>
                Open
              </MenuItem>
              <MenuItem Icon={Unlink} tone="danger" onSelect={() => setEnding(true)}>
                End sharing
              </MenuItem>
            </Menu>
          </>
        )}
      </span>
    </>
  );
}
