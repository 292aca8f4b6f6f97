import { useMutation } from '@tanstack/react-query';
import { FolderPlus } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Pending, Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';
import { useAlbumCalls, useAlbums } from './albums.ts';
import './dialogs.css';

/** Adds assets to an album, or to a new one. */
export function AlbumDialog({
  assetIds,
  onClose,
}: {
  readonly assetIds: readonly string[];
  readonly onClose: () => void;
}) {
  const [title, setTitle] = useState('');
  const { data: albums, error, refetch } = useAlbums();
  const calls = useAlbumCalls();
  const words = assetIds.length === 1 ? '1 item' : `${assetIds.length} items`;
  const adding = useMutation({
    mutationFn: async (album: { readonly collectionId?: string; readonly title: string }) => {
      if (album.collectionId === undefined) await calls.create(album.title, assetIds);
      else await calls.change(album.collectionId, { add: assetIds });
      notify(`Added ${words} to “${album.title}”.`);
      onClose();
    },
  });
  const wanted = title.trim();
  const found = (albums ?? []).filter((album) => album.title.toLowerCase().includes(wanted.toLowerCase()));
  const exists = found.some((album) => album.title === wanted);
  return (
    <Dialog title={`Add ${words} to an album`} onClose={onClose}>
      <form
        className="album-choice"
        onSubmit={(event) => {
          event.preventDefault();
          const same = found.find((album) => album.title === wanted);
          if (wanted !== '') adding.mutate(same ?? { title: wanted });
        }}
      >
        <label className="field">
          Name of a new album, or search
          <input
            maxLength={200}
            value={title}
            placeholder="For example: Lighthouses"
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
        {wanted !== '' && !exists && (
          <button type="submit" className="primary" disabled={adding.isPending}>
            <FolderPlus size={16} strokeWidth={1.75} aria-hidden="true" />
            Create “{wanted}”
          </button>
        )}
        <Problem of={adding.error} />
        {albums === undefined ? (
          <Pending error={error} retry={refetch} what="Reading albums" />
        ) : (
          <ul className="album-list" aria-label="Albums">
            {found.map((album) => (
              <li key={album.collectionId}>
                <button
                  type="button"
                  className="plain"
                  disabled={adding.isPending}
                  onClick={() => adding.mutate(album)}
                >
                  <span className="cut">{album.title}</span>
                  <span className="quiet small">{album.count}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </form>
    </Dialog>
  );
}
