import { FolderPlus, Images, Search } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Collection } from '../../../client/media/api.ts';
import { useAlbumCalls, useAlbums } from '../library/albums.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { useSigned } from '../library/signing.ts';
import { Empty, Pending } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import '../library/library.css';

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

export function Albums() {
  const [q, setQ] = useState('');
  const [title, setTitle] = useState('');
  const { data: albums, error, refetch } = useAlbums(q);
  const calls = useAlbumCalls();
  const [, navigate] = useLocation();
  return (
    <div className="library">
      <header className="page">
        <h1>Albums</h1>
      </header>
      <div className="filterbar">
        <label className="find">
          <Search {...icon} />
          <input
            type="search"
            aria-label="Search albums"
            placeholder="Search albums"
            maxLength={200}
            value={q}
            onChange={(event) => setQ(event.target.value)}
          />
        </label>
        <form
          className="new-album"
          onSubmit={(event) => {
            event.preventDefault();
            if (title.trim() === '') return;
            calls
              .create(title)
              .then(({ collectionId }) => navigate(`/library?album=${collectionId}`))
              .catch(notifyFailure);
          }}
        >
          <input
            aria-label="Name of a new album"
            placeholder="New album"
            maxLength={200}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
          <button type="submit" className="primary" disabled={title.trim() === ''}>
            <FolderPlus {...icon} />
            Create
          </button>
        </form>
      </div>
      {albums === undefined ? (
        <Pending error={error} retry={refetch} what="Reading albums" />
      ) : (
        <>
          <ul className="albums" aria-label="Albums">
            {q === '' && (
              <li>
                <Link href="/library?favorites=1" className="albumcard">
                  <span className="cover none">♥</span>
                  <span className="strong">Favorites</span>
                </Link>
              </li>
            )}
            {albums.map((album) => (
              <li key={album.collectionId}>
                <AlbumCard album={album} />
              </li>
            ))}
          </ul>
          {albums.length === 0 && (
            <Empty title={q === '' ? 'No albums yet.' : 'No album matches.'}>
              {q === '' && <p>Group images and videos in albums. An image can be in any number of them.</p>}
            </Empty>
          )}
        </>
      )}
    </div>
  );
}

function AlbumCard({ album }: { readonly album: Collection }) {
  const isVideo = album.coverMime?.startsWith('video/') === true;
  const { data } = useSigned(isVideo ? 'video' : 'image', album.coverAssetId);
  const url = data?.thumbUrl ?? (isVideo ? undefined : data?.url);
  return (
    <Link href={`/library?album=${album.collectionId}`} className="albumcard">
      <span className="cover">
        {album.coverAssetId === null ? (
          <Images size={24} strokeWidth={1.75} aria-hidden="true" />
        ) : (
          <AssetImage url={url} alt="" blurhash={data?.blurhash} />
        )}
      </span>
      <span className="strong cut">{album.title}</span>
      <span className="quiet small">{album.count === 1 ? '1 item' : `${album.count} items`}</span>
    </Link>
  );
}
