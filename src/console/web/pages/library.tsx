import '../library/library.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import {
  ChevronDown,
  ChevronLeft,
  Download,
  FolderMinus,
  FolderPlus,
  Heart,
  History,
  ImagePlus,
  Trash2,
  Upload,
  X,
} from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useParams, useSearch } from 'wouter';
import type { Asset, AssetMonths } from '#client/media/api.ts';
import { downloadAll, fromPage, referInStudio } from '../library/actions.ts';
import { useAlbum, useAlbumCalls, useFavorites } from '../library/albums.ts';
import { type Filters, filtersOf, searchOf, useAssets, useNewAssets } from '../library/assets.ts';
import { type Choosing, useChoosing } from '../library/choosing.ts';
import { openDialog } from '../library/dialogs.ts';
import { FilterBar } from '../library/filterbar.tsx';
import { Timeline } from '../library/grid.tsx';
import { Lightbox } from '../library/lightbox.tsx';
import { addUploads } from '../library/queue.ts';
import { TileSize, useTileSize } from '../library/tilesize.tsx';
import { monthOf } from '../library/timeline.ts';
import { useTrash } from '../library/trash.ts';
import { Confirm } from '../parts/confirm.tsx';
import { IconButton } from '../parts/iconbutton.tsx';
import { Empty, Failure, Loading, Pending } from '../parts/states.tsx';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;
const withSearch = (assetId: string) => `/library/${assetId}${location.search}`;
const toEdit = { ...fromPage, isEditing: true };

export function Library() {
  const user = useUser();
  const queries = useQueryClient();
  const { assetId } = useParams<{ readonly assetId?: string }>();
  const [, navigate] = useLocation();
  const search = useSearch();
  const filters = useMemo(() => filtersOf(search), [search]);
  const setFilters = (next: Filters) => navigate(`/library${searchOf(next)}`, { replace: true });
  const listing = useAssets(filters);
  const readNew = useNewAssets();
  const { trash } = useTrash();
  const [size, setSize] = useTileSize();
  const [month, setMonth] = useState<{ readonly month: string }>();
  const assets = useMemo(() => listing.data?.pages.flatMap((page) => page.assets) ?? [], [listing.data]);
  const chosen = useChoosing(assets);
  const [isSelecting, setSelecting] = useState(false);
  const choosing = {
    ...chosen,
    clear() {
      setSelecting(false);
      chosen.clear();
    },
  };
  const { hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage } = listing;

  const onMore = useCallback(() => {
    if (!isFetchingNextPage && !isPlaceholderData) void fetchNextPage();
  }, [isFetchingNextPage, isPlaceholderData, fetchNextPage]);
  const open = useCallback((asset: Asset) => navigate(withSearch(asset.assetId), { state: fromPage }), [navigate]);
  const edit = useCallback((asset: Asset) => navigate(withSearch(asset.assetId), { state: toEdit }), [navigate]);
  useKeptPlace(listing.data !== undefined);
  useEffect(() => void readNew(), [readNew]);
  const upload = (files: readonly File[]) =>
    addUploads(user, files, (asset) => {
      // A video has a thumbnail once it is processed.
      void queries.invalidateQueries({ queryKey: ['signed', user.id, 'video', asset.assetId] });
      void readNew();
    });
  const removeAll = (chosen: readonly Asset[]) => {
    trash(chosen);
    choosing.clear();
  };

  return (
    <div className="library">
      {filters.album === '' ? (
        <header className="page">
          <h1>Library</h1>
        </header>
      ) : (
        <AlbumHeader key={filters.album} collectionId={filters.album} />
      )}
      {choosing.chosen.size > 0 || isSelecting ? (
        <SelectionBar
          choosing={choosing}
          album={filters.album}
          onDelete={() => removeAll(choosing.assets)}
          onDownload={() => downloadAll(user, choosing.assets)}
        />
      ) : (
        <FilterBar filters={filters} onChange={setFilters} onFiles={upload} onSelect={() => setSelecting(true)}>
          <Months
            onChoose={(chosen) => {
              const last = assets.at(-1);
              // A month that is not read yet is where the listing begins.
              if (last !== undefined && monthOf(last.createdAt) <= chosen) setMonth({ month: chosen });
              else navigate(`/library${searchOf({ ...filters, from: '', to: lastDayOf(chosen) })}`);
            }}
          />
          <TileSize size={size} onChange={setSize} />
        </FilterBar>
      )}
      {listing.data === undefined ? (
        <Pending error={listing.error} retry={listing.refetch} what="Reading the library" />
      ) : assets.length === 0 && !hasNextPage ? (
        <Nothing
          isFiltered={searchOf({ ...filters, album: '' }) !== ''}
          isAlbum={filters.album !== ''}
          onReset={() => setFilters({ ...filtersOf(''), album: filters.album })}
        />
      ) : (
        <Timeline
          assets={assets}
          choosing={choosing}
          size={size}
          jumpTo={month}
          isChoosingOnly={isSelecting}
          hasMore={hasNextPage}
          onMore={onMore}
          onOpen={open}
          onEdit={edit}
          onDelete={removeAll}
        />
      )}
      {isFetchingNextPage && <Loading what="Reading more" />}
      {listing.data !== undefined && listing.error && <Failure error={listing.error} retry={fetchNextPage} />}
      <DropAnywhere onFiles={upload} />
      {assetId !== undefined && <Opened assetId={assetId} assets={assets} readNew={readNew} />}
    </div>
  );
}

/** Back returns to where the page was scrolled to: each entry of the history keeps its place. */
function useKeptPlace(isRead: boolean): void {
  useEffect(() => {
    const keep = () => history.replaceState({ ...history.state, scrollY: Math.round(scrollY) }, '');
    addEventListener('scrollend', keep);
    return () => removeEventListener('scrollend', keep);
  }, []);
  useEffect(() => {
    const place: unknown = history.state?.scrollY;
    // The rows exist two frames after their assets.
    if (isRead && typeof place === 'number' && place > 0)
      requestAnimationFrame(() => requestAnimationFrame(() => scrollTo({ top: place, behavior: 'instant' })));
  }, [isRead]);
}

/** The lightbox, which steps through the assets of the grid. */
function Opened({
  assetId,
  assets,
  readNew,
}: {
  readonly assetId: string;
  readonly assets: readonly Asset[];
  readonly readNew: () => Promise<void>;
}) {
  const [, navigate] = useLocation();
  const [isEditing, setEditing] = useState(history.state?.isEditing === true);
  const place = assets.findIndex((asset) => asset.assetId === assetId);
  const show = (id: string) =>
    navigate(withSearch(id), { replace: true, state: { fromPage: history.state?.fromPage } });
  const stepTo = (asset: Asset | undefined) => asset && (() => show(asset.assetId));
  const close = () =>
    history.state?.fromPage ? history.back() : navigate(`/library${location.search}`, { replace: true });
  return (
    <Lightbox
      assetId={assetId}
      known={assets[place]}
      onStep={{
        before: stepTo(place > 0 ? assets[place - 1] : undefined),
        after: stepTo(place >= 0 ? assets[place + 1] : undefined),
      }}
      onClose={close}
      isEditing={isEditing}
      onEditing={setEditing}
      onMade={async (id) => {
        await readNew();
        setEditing(false);
        show(id);
      }}
    />
  );
}

function SelectionBar({
  choosing,
  album,
  onDelete,
  onDownload,
}: {
  readonly choosing: Choosing;
  readonly album: string;
  readonly onDelete: () => void;
  readonly onDownload: () => Promise<void>;
}) {
  const [problem, setProblem] = useState('');
  const changeFavorites = useFavorites();
  const albums = useAlbumCalls();
  const ids = choosing.assets.map(({ assetId }) => assetId);
  const areFavorites = choosing.assets.every(({ favorite }) => favorite);
  const report = (error: Error) => setProblem(error.message);
  const count = choosing.chosen.size;
  if (count === 0)
    return (
      <div className="filterbar selection" role="toolbar" aria-label="Selection">
        <IconButton label="End the selection" Icon={X} onClick={choosing.clear} />
        <span role="status">Tap images and videos to select them.</span>
      </div>
    );
  return (
    <div className="filterbar selection" role="toolbar" aria-label="Selection">
      <IconButton label="Clear the selection" Icon={X} onClick={choosing.clear} />
      <span role="status" className="strong">
        {count} selected
      </span>
      {problem && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
      <span className="gap" />
      {count === 1 && choosing.assets[0]?.mime.startsWith('image/') && (
        <button type="button" onClick={() => choosing.assets[0] && referInStudio(choosing.assets[0])}>
          <ImagePlus {...icon} />
          Use as reference
        </button>
      )}
      <button
        type="button"
        aria-pressed={areFavorites}
        onClick={() => changeFavorites(ids, !areFavorites).catch(report)}
      >
        <Heart {...icon} />
        Favorite
      </button>
      <button type="button" onClick={() => openDialog({ kind: 'album', assetIds: ids })}>
        <FolderPlus {...icon} />
        Add to album
      </button>
      {album !== '' && (
        <button type="button" onClick={() => albums.change(album, { remove: ids }).then(choosing.clear, report)}>
          <FolderMinus {...icon} />
          Remove from album
        </button>
      )}
      <button type="button" onClick={() => onDownload().catch(report)}>
        <Download {...icon} />
        Download
      </button>
      <button type="button" className="danger" onClick={onDelete}>
        <Trash2 {...icon} />
        Delete
      </button>
    </div>
  );
}

function Nothing({
  isFiltered,
  isAlbum,
  onReset,
}: {
  readonly isFiltered: boolean;
  readonly isAlbum: boolean;
  readonly onReset: () => void;
}) {
  if (isAlbum && !isFiltered)
    return (
      <Empty title="This album is empty.">
        <p>Select images and videos in your library, then add them to this album.</p>
        <Link className="button" href="/library">
          Open the library
        </Link>
      </Empty>
    );
  return isFiltered ? (
    <Empty title="Nothing matches.">
      <button type="button" onClick={onReset}>
        Show everything
      </button>
    </Empty>
  ) : (
    <Empty title="Nothing here yet.">
      <p>
        Images and videos that you create in the studio appear here. You can also drop files anywhere to upload them.
      </p>
      <Link className="button" href="/studio">
        Create an image
      </Link>
    </Empty>
  );
}

/** The title of an album, which is saved when the field is left. */
function AlbumHeader({ collectionId }: { readonly collectionId: string }) {
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

/** Takes files that are dropped anywhere in the window, or pasted. Without it, the browser would leave the page. */
function DropAnywhere({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const listening = new AbortController();
    const options = { signal: listening.signal };
    const over = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    addEventListener('dragenter', over, options);
    addEventListener('dragover', over, options);
    addEventListener(
      'dragleave',
      (event) => {
        if (event.relatedTarget === null) setOver(false);
      },
      options,
    );
    addEventListener(
      'drop',
      (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        setOver(false);
        take.current([...(event.dataTransfer?.files ?? [])]);
      },
      options,
    );
    addEventListener(
      'paste',
      (event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        take.current(files);
      },
      options,
    );
    return () => listening.abort();
  }, []);
  return (
    isOver && (
      <div className="dropzone" aria-hidden="true">
        <Upload size={20} strokeWidth={1.75} />
        Drop files to upload them
      </div>
    )
  );
}

// Jumps to a month of the library.

const nameOf = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const dateOf = (month: string) => new Date(`${month}-01T00:00`);

/** `YYYY-MM-DD`. */
function lastDayOf(month: string): string {
  const first = dateOf(month);
  const days = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate();
  return `${month}-${days}`;
}

function Months({ onChoose }: { readonly onChoose: (month: string) => void }) {
  const user = useUser();
  const { data } = useQuery({
    queryKey: ['months', user.id],
    queryFn: ({ signal }) =>
      user.json<AssetMonths>('media', `/v1/assets/months?utcOffset=${-new Date().getTimezoneOffset()}`, { signal }),
  });
  const months = data?.months ?? [];
  if (months.length < 2) return null;
  return (
    <Menu
      align="end"
      trigger={
        <button type="button" className="toggle">
          <History size={16} strokeWidth={1.75} aria-hidden="true" />
          Jump to
          <ChevronDown size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      }
    >
      {months.map(({ month, count }) => (
        <MenuItem key={month} Icon={History} onSelect={() => onChoose(month)}>
          <span className="choice">
            {nameOf.format(dateOf(month))}
            <span className="quiet small">{count === 1 ? '1 item' : `${count} items`}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
