import './dialogs.css';
import { FolderPlus, MoveHorizontal } from 'lucide-react';
import { useState } from 'react';
import { CreateDialog } from '../create/createform.tsx';
import { Thumbnail } from '../create/fields.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { plural } from '../parts/figures.tsx';
import { Button } from '../parts/iconbutton.tsx';
import { useDeed } from '../parts/server.ts';
import { Loaded, Problem } from '../parts/states.tsx';
import { useAlbumCalls, useAlbums } from './albums.ts';
import { closeDialog, type LibraryDialog, openDialog } from './dialogs.ts';
import { ShareDialog } from './sharedialog.tsx';

export function LibraryDialogs({ dialog }: { readonly dialog: LibraryDialog }) {
  if (dialog.kind === 'album') return <AlbumDialog {...dialog} onClose={closeDialog} />;
  if (dialog.kind === 'compare') return <CompareDialog assetIds={dialog.assetIds} onClose={closeDialog} />;
  if (dialog.kind === 'create') return <CreateDialog deed={dialog.deed} order={dialog.order} onClose={closeDialog} />;
  return <ShareDialog of={dialog} onClose={closeDialog} />;
}

interface AlbumDialogProps extends Omit<Extract<LibraryDialog, { readonly kind: 'album' }>, 'kind'> {
  readonly onClose: () => void;
}

/** Adds assets to an album, or to a new one. Several assets are shared as an album. */
function AlbumDialog({ assetIds, isShared = false, onClose }: AlbumDialogProps) {
  const [title, setTitle] = useState(
    isShared ? `Shared on ${new Date().toLocaleDateString(undefined, { dateStyle: 'long' })}` : '',
  );
  const albums = useAlbums();
  const calls = useAlbumCalls();
  const words = plural(assetIds.length, 'item');
  const adding = useDeed(async (album: { readonly collectionId?: string; readonly title: string }) => {
    const { collectionId } = await (album.collectionId === undefined
      ? calls.create(album.title, assetIds)
      : calls.change(album.collectionId, { add: assetIds }));
    if (isShared) openDialog({ kind: 'share-album', collectionId });
    else onClose();
    return `Added ${words} to “${album.title}”.`;
  });
  const wanted = title.trim();
  const found = (albums.data ?? []).filter((album) => album.title.toLowerCase().includes(wanted.toLowerCase()));
  const exists = found.some((album) => album.title === wanted);
  return (
    <Dialog title={isShared ? `Share ${words} as an album` : `Add ${words} to an album`} onClose={onClose}>
      <form
        className="album-choice"
        action={() => {
          const same = found.find((album) => album.title === wanted);
          if (wanted !== '') adding.mutate(same ?? { title: wanted });
        }}
      >
        <TextField
          label="Name of a new album, or search"
          maxLength={200}
          required
          value={title}
          placeholder="For example: Lighthouses"
          onChange={setTitle}
        />
        {!exists && (
          <Button
            Icon={FolderPlus}
            text={wanted === '' ? 'Create a new album' : `Create “${wanted}”`}
            type="submit"
            className="primary"
            disabled={adding.isPending}
          />
        )}
        <Problem of={adding.error} />
        <Loaded of={albums} what="Reading albums">
          {() => (
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
        </Loaded>
      </form>
    </Dialog>
  );
}

/** Two images, one over the other, with a line between them that the user moves. */
function CompareDialog({ assetIds, onClose }: { readonly assetIds: readonly string[]; readonly onClose: () => void }) {
  const [pair, setPair] = useState([0, 1]);
  const [left = 0, right = 1] = pair;
  const [share, setShare] = useState(50);
  return (
    <Dialog title="Compare" onClose={onClose} isWide>
      {assetIds.length > 2 && (
        <div className="comparechoices">
          {['Left', 'Right'].map((side, at) => (
            <fieldset key={side} className="references" aria-label={side}>
              <span aria-hidden="true">{side}</span>
              {assetIds.map((assetId, place) => (
                <label key={assetId} className="reference">
                  <input
                    type="radio"
                    className="unseen"
                    name={side}
                    checked={pair[at] === place}
                    onChange={() => setPair(pair.with(at, place))}
                  />
                  <Thumbnail assetId={assetId} alt={`Image ${place + 1}`} />
                </label>
              ))}
            </fieldset>
          ))}
        </div>
      )}
      <div className="compare" ref={(box) => box?.style.setProperty('--share', `${share}%`)}>
        <Thumbnail assetId={assetIds[right] ?? null} alt={`Image ${right + 1}`} isLarge />
        <div className="over">
          <Thumbnail assetId={assetIds[left] ?? null} alt={`Image ${left + 1}`} isLarge />
        </div>
        <span className="parting" aria-hidden="true">
          <MoveHorizontal size={16} strokeWidth={1.75} />
        </span>
        {/* Over the whole picture, so that the line follows the pointer anywhere. */}
        <input
          type="range"
          aria-label="Line between the images"
          min={0}
          max={100}
          step={0.5}
          value={share}
          onChange={({ target }) => setShare(Number(target.value))}
        />
      </div>
    </Dialog>
  );
}
