import { FolderPlus, Heart, Images, Link2, Pencil } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import type { Asset, Collection } from '../../../client/media/api.ts';
import { coverOf, linkOfAlbum, useAlbumCalls, useAlbums, useNewest } from '../library/albums.ts';
import { isImage, isVideo, nameOf } from '../library/assets.ts';
import { openDialog } from '../library/dialogs.ts';
import { useShares } from '../library/shares.ts';
import { Thumb } from '../library/tile.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Find, TextField } from '../parts/fields.tsx';
import { plural } from '../parts/figures.tsx';
import { Button, IconButton, icon } from '../parts/iconbutton.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { useDeed } from '../parts/server.ts';
import { Empty, Loaded } from '../parts/states.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import '../library/library.css';

const ofAlbums = { ofAlbums: true };

export function Albums() {
  const [q, setQ] = useState('');
  const [edited, setEdited] = useState<Collection | 'new'>();
  const query = useAlbums(q);
  const albums = query.data;
  const { data: liked } = useNewest({ favorites: '1' }, 200);
  const shares = useShares().data?.pages.flatMap((page) => page.shares);
  const shared = new Set(shares?.map(({ collectionId }) => collectionId));
  const isNone = albums?.length === 0 && q === '';
  const create = <Button Icon={FolderPlus} text="New album" className="primary" onClick={() => setEdited('new')} />;
  return (
    <div className="library">
      <header className="page">
        <h1>Albums</h1>
        {(q !== '' || (albums?.length ?? 0) >= 12) && <Find label="Search albums" value={q} onChange={setQ} />}
        {!isNone && create}
      </header>
      <Loaded of={query} what="Reading albums" hasTiles>
        {(found) => (
          <>
            <ul className="albums" aria-label="Albums">
              {q === '' && (
                <li>
                  <Link href="/library?favorites=1" state={ofAlbums} className="albumcard">
                    <Cover asset={liked?.assets[0]} />
                    <span className="strong">
                      <Heart {...icon} /> Favorites
                    </span>
                    <span className="quiet small">
                      {liked &&
                        (liked.nextCursor ? `${liked.assets.length}+ items` : plural(liked.assets.length, 'item'))}
                    </span>
                  </Link>
                </li>
              )}
              {found.map((album) => (
                <li key={album.collectionId}>
                  <Link href={linkOfAlbum(album.collectionId)} className="albumcard">
                    <Cover asset={coverOf(album)} />
                    <span className="strong cut">{album.title}</span>
                    <span className="quiet small">
                      {plural(album.count, 'item')}
                      {shared.has(album.collectionId) && ' · Shared'}
                    </span>
                  </Link>
                  {shared.has(album.collectionId) && (
                    <IconButton
                      label={`Link of “${album.title}”`}
                      Icon={Link2}
                      className="plain icon link"
                      onClick={() => openDialog({ kind: 'share-album', collectionId: album.collectionId })}
                    />
                  )}
                  <IconButton label={`Edit “${album.title}”`} Icon={Pencil} onClick={() => setEdited(album)} />
                </li>
              ))}
            </ul>
            {found.length === 0 && q !== '' && <Empty title={`No album matches “${q}”.`} />}
            {isNone && (
              <Empty Icon={Images} title="No albums yet.">
                <p>Group images and videos by client, project or mood. An image can be in any number of albums.</p>
                {create}
              </Empty>
            )}
          </>
        )}
      </Loaded>
      {edited && <AlbumDialog {...(edited !== 'new' && { album: edited })} onClose={() => setEdited(undefined)} />}
    </div>
  );
}

const Cover = ({ asset }: { readonly asset: Pick<Asset, 'assetId' | 'mime'> | undefined }) => (
  <span className="cover">
    {asset ? (
      <Thumb key={asset.assetId} asset={asset} isLarge />
    ) : (
      <Images size={20} strokeWidth={1.75} aria-hidden="true" />
    )}
  </span>
);

/** `undefined`: a new album, which opens. */
export function AlbumDialog({ album, onClose }: { readonly album?: Collection; readonly onClose: () => void }) {
  const calls = useAlbumCalls();
  const [title, setTitle] = useState(album?.title ?? '');
  const [coverAssetId, setCover] = useState(album?.coverAssetId ?? null);
  const saving = useDeed(async () => {
    const covering = coverAssetId !== null && coverAssetId !== album?.coverAssetId && { coverAssetId };
    if (album) await calls.change(album.collectionId, { title: title.trim(), ...covering });
    else navigate(`/library?album=${(await calls.create(title.trim())).collectionId}`);
  });
  const remove = album && (
    <Confirm
      label="Delete the album"
      question="Its images and videos stay in your library."
      onConfirm={() =>
        calls.remove(album.collectionId).then(() => {
          notify(`Deleted the album “${album.title}”.`);
          onClose();
          navigate('/albums');
        }, notifyFailure)
      }
    />
  );
  return (
    <SaveForm
      title={album ? 'Edit the album' : 'New album'}
      of={saving}
      submit={album ? 'Save' : 'Create'}
      isReady={title.trim() !== ''}
      more={remove}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={200} placeholder="Lighthouses" value={title} onChange={setTitle} />
      {album && <Covers {...album} coverAssetId={coverAssetId} onChoose={setCover} />}
    </SaveForm>
  );
}

interface CoversProps extends Pick<Collection, 'collectionId' | 'coverAssetId'> {
  readonly onChoose: (assetId: string) => void;
}

/** Older ones have “Use as cover” in their menu. */
function Covers({ collectionId, coverAssetId, onChoose }: CoversProps) {
  const { data } = useNewest({ album: collectionId }, 200);
  const media = data?.assets.filter((asset) => isImage(asset) || isVideo(asset)) ?? [];
  return (
    media.length > 1 && (
      <fieldset className="covers">
        <legend>Cover</legend>
        {media.map((asset) => (
          <label key={asset.assetId} className="cover">
            <input
              type="radio"
              name="cover"
              className="unseen"
              aria-label={nameOf(asset)}
              checked={asset.assetId === coverAssetId}
              onChange={() => onChoose(asset.assetId)}
            />
            <Thumb asset={asset} />
          </label>
        ))}
      </fieldset>
    )
  );
}
