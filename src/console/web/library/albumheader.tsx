import { ChevronLeft } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Confirm } from '../parts/confirm.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useAlbum, useAlbumCalls } from './albums.ts';

/** The title of an album, which is saved when the field is left. */
export function AlbumHeader({ collectionId }: { readonly collectionId: string }) {
  const { data: album, error } = useAlbum(collectionId);
  const calls = useAlbumCalls();
  const [, navigate] = useLocation();
  const [title, setTitle] = useState<string>();
  const save = async () => {
    const next = title?.trim();
    if (next && next !== album?.title) await calls.change(collectionId, { title: next }).catch(notifyFailure);
    setTitle(undefined);
  };
  return (
    <header className="page album">
      <div>
        <Link href="/albums" className="back">
          <ChevronLeft size={16} strokeWidth={1.75} aria-hidden="true" />
          Albums
        </Link>
        <h1 className="unseen">{album?.title ?? 'Album'}</h1>
        {error && <p className="problem">{error.message}</p>}
        {album && (
          <input
            className="title"
            aria-label="Name of the album"
            maxLength={200}
            value={title ?? album.title}
            onChange={(event) => setTitle(event.target.value)}
            onBlur={() => void save()}
            onKeyDown={(event) => {
              if (event.key === 'Enter') event.currentTarget.blur();
            }}
          />
        )}
        {album && <p className="quiet small">{album.count === 1 ? '1 item' : `${album.count} items`}</p>}
      </div>
      {album && (
        <Confirm
          label="Delete the album"
          question="Its images and videos stay in your library."
          onConfirm={() =>
            calls.remove(collectionId).then(() => {
              navigate('/albums', { replace: true });
              notify(`Deleted the album “${album.title}”.`);
            }, notifyFailure)
          }
        />
      )}
    </header>
  );
}
