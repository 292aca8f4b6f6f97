import '../library/library.css';
import {
  ChevronDown,
  ChevronLeft,
  CircleCheck,
  Columns2,
  Download,
  FolderMinus,
  FolderPlus,
  Heart,
  History,
  Image,
  ImagePlus,
  Images,
  Link2,
  type LucideIcon,
  Pencil,
  Plus,
  Share2,
  Trash2,
  Upload,
  X,
} from 'lucide-react';
import { type ComponentProps, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useParams, useSearch } from 'wouter';
import { navigate, useHistoryState } from 'wouter/use-browser-location';
import type { Asset, AssetMonths, CollectionChange } from '#client/media/api.ts';
import { downloadAll, fromPage, referInStudio } from '../library/actions.ts';
import { linkOfAlbum, useAlbum, useAlbumCalls, useAlbums, useFavorites } from '../library/albums.ts';
import { type Filters, filtersOf, isImage, isVideo, useAssets, useNewAssets } from '../library/assets.ts';
import { type Choosing, draggedAssets, useChoosing } from '../library/choosing.ts';
import { openDialog } from '../library/dialogs.ts';
import type { ActionTarget } from '../library/downloading.ts';
import { FilterBar, nothingFor, SelectionBar, TileSize, useTileSize } from '../library/filterbar.tsx';
import { Timeline } from '../library/grid.tsx';
import { Lightbox } from '../library/lightbox.tsx';
import { MoreActions } from '../library/mediaactions.tsx';
import { addUploads } from '../library/queue.ts';
import { useShare } from '../library/shares.ts';
import { stepsIn } from '../library/stage.tsx';
import { monthOf } from '../library/timeline.ts';
import { useTrash } from '../library/trash.ts';
import { Choice } from '../parts/fields.tsx';
import { plural } from '../parts/figures.tsx';
import { Button, IconButton, icon } from '../parts/iconbutton.tsx';
import { Empty, Failure, Loading, PageHead, Pending } from '../parts/states.tsx';
import { useDroppedFiles } from '../shell/browser.ts';
import { InSidebar } from '../shell/frame.tsx';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { toSearch } from '../shell/page.ts';
import { useOwn, useReread, useUser } from '../user.tsx';
import { AlbumDialog } from './albums.tsx';

const withSearch = (assetId: string) => `/library/${assetId}${location.search}`;
const open = ({ assetId }: Asset) => navigate(withSearch(assetId), { state: fromPage });
const edit = ({ assetId }: Asset) => navigate(withSearch(assetId), { state: { ...fromPage, isEditing: true } });
const filtering = (filters: Filters) => toSearch({ ...filters, album: '', addTo: '', sort: '' });

export function Library() {
  const user = useUser();
  const reread = useReread();
  const { assetId } = useParams<{ readonly assetId?: string }>();
  const search = useSearch();
  const filters = useMemo(() => filtersOf(search), [search]);
  const setFilters = (next: Partial<Filters>) =>
    navigate(`/library${toSearch(next)}`, { replace: true, state: history.state });
  const isOfAlbums: unknown = Reflect.get(Object(useHistoryState()), 'ofAlbums');
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
  useKeptPlace(listing.data !== undefined);
  useEffect(() => void readNew(), [readNew]);
  const albums = useAlbumCalls();
  const upload = (files: readonly File[]) =>
    addUploads(user, files, (asset) => {
      if (filters.album !== '') void albums.change(filters.album, { add: [asset.assetId] }).catch(notifyFailure);
      // A video has a thumbnail once it is processed.
      void reread('signed', 'video', asset.assetId);
      void readNew();
    });
  const picker = useRef<HTMLInputElement>(null);
  const pick = () => picker.current?.click();
  const removeAll = (chosen: readonly Asset[]) => {
    void trash(chosen);
    choosing.clear();
  };

  /** For one image of the album, on its tile and when it is open. */
  const ofAlbum = ({ assetId: id }: ActionTarget, onGone?: () => void) => {
    if (filters.album === '') return [];
    const change = (part: CollectionChange, done: string) =>
      albums.change(filters.album, part).then(({ title }) => void notify(`${done} “${title}”.`));
    const cover = () => change({ coverAssetId: id }, 'It is now the cover of').catch(notifyFailure);
    const remove = () => change({ remove: [id] }, 'Removed from').then(onGone, notifyFailure);
    return [
      { name: 'Use as cover', Icon: Image, run: cover },
      { name: 'Remove from album', Icon: FolderMinus, run: remove },
    ];
  };

  const isFiltered = filtering(filters) !== '';
  const isAdding = filters.addTo !== '';
  // Nothing is there to filter.
  const isEmpty = listing.data !== undefined && assets.length === 0 && !hasNextPage && !isFiltered && !isAdding;
  // All are in view, so a filter finds nothing that the eye does not.
  const isFew = filters.album !== '' && assets.length <= 24 && !hasNextPage && !isFiltered;
  const isChoosing = isSelecting || choosing.chosen.size > 0;

  return (
    <MoreActions value={ofAlbum}>
      <div className="library">
        {filters.album !== '' ? (
          <AlbumHeader
            key={filters.album}
            filters={filters}
            onUpload={pick}
            onSelect={isFew ? () => setSelecting(true) : undefined}
          />
        ) : filters.favorites && isOfAlbums ? (
          <header className="page album">
            <div>
              <BackToAlbums />
              <h1>Favorites</h1>
            </div>
          </header>
        ) : (
          !isAdding && <PageHead title="Library" />
        )}
        {!isAdding && <AlbumShelf />}
        {isAdding ? (
          <AddingBar collectionId={filters.addTo} choosing={choosing} />
        ) : (
          isChoosing && (
            <SelectionBar label="Selection" choosing={choosing} of={assets.length} hint="Select items." canClose>
              {choosing.chosen.size > 0 && (
                <SelectionDeeds choosing={choosing} album={filters.album} onDelete={() => removeAll(choosing.assets)} />
              )}
            </SelectionBar>
          )
        )}
        {(isAdding || !isChoosing) && !isEmpty && !isFew && (
          <FilterBar
            filters={filters}
            onChange={setFilters}
            onUpload={isAdding || filters.album !== '' ? undefined : pick}
            onSelect={isAdding ? undefined : () => setSelecting(true)}
          >
            {filters.album === '' && (
              <Months
                onChoose={(chosen) => {
                  const last = assets.at(-1);
                  // A month that is not read yet is where the listing begins.
                  if (last !== undefined && monthOf(last.createdAt) <= chosen) setMonth({ month: chosen });
                  else navigate(`/library${toSearch({ ...filters, from: '', to: lastDayOf(chosen) })}`);
                }}
              />
            )}
            <TileSize size={size} onChange={setSize} />
          </FilterBar>
        )}
        {listing.data === undefined ? (
          <Pending error={listing.error} retry={listing.refetch} what="Reading the library" hasTiles />
        ) : assets.length === 0 && !hasNextPage ? (
          <Nothing
            isFiltered={isFiltered}
            filters={filters}
            onUpload={pick}
            onReset={() => {
              const { album, addTo, sort } = filters;
              setFilters({ album, addTo, sort });
            }}
          />
        ) : (
          <Timeline
            assets={assets}
            choosing={choosing}
            size={size}
            jumpTo={month}
            isChoosingOnly={isSelecting || isAdding}
            hasMore={hasNextPage}
            onMore={onMore}
            onOpen={open}
            onEdit={edit}
            onDelete={removeAll}
          />
        )}
        {isFetchingNextPage && <Loading what="Reading more" />}
        {listing.data !== undefined && listing.error && <Failure error={listing.error} retry={fetchNextPage} />}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={(event) => {
            upload([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
        <DropAnywhere onFiles={upload} />
        {assetId !== undefined && <Opened assetId={assetId} assets={assets} />}
      </div>
    </MoreActions>
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

/** The lightbox, which steps through the page that it was opened from: an order, a conversation, or the grid. */
function Opened({ assetId, assets }: { readonly assetId: string; readonly assets: readonly Asset[] }) {
  const readNew = useNewAssets();
  const [isEditing, setEditing] = useState(history.state?.isEditing === true);
  const given: readonly string[] | undefined = history.state?.among;
  const among = given ?? assets.map((asset) => asset.assetId);
  const place = among.indexOf(assetId);
  const show = (id: string, next = given) =>
    navigate(withSearch(id), { replace: true, state: { fromPage: history.state?.fromPage, among: next } });
  const close = () =>
    history.state?.fromPage ? history.back() : navigate(`/library${location.search}`, { replace: true });
  return (
    <Lightbox
      assetId={assetId}
      known={assets.find((asset) => asset.assetId === assetId)}
      steps={stepsIn(among, place, (id) => show(id))}
      onClose={close}
      onDeleted={() => {
        const next = among[place + 1] ?? among[place - 1];
        if (next === undefined) close();
        else show(next, given?.toSpliced(place, 1));
      }}
      isEditing={isEditing}
      onEditing={setEditing}
      onMade={async (id) => {
        await readNew();
        setEditing(false);
        show(id, given?.toSpliced(place + 1, 0, id));
      }}
    />
  );
}

const mostCompared = 8;

type Deed = readonly [string, LucideIcon, () => void, Pick<ComponentProps<'button'>, 'aria-pressed' | 'className'>?];

interface SelectionDeedsProps {
  readonly choosing: Choosing;
  readonly album: string;
  readonly onDelete: () => void;
}

function SelectionDeeds({ choosing: { assets, clear }, album, onDelete }: SelectionDeedsProps) {
  const user = useUser();
  const changeFavorites = useFavorites();
  const albums = useAlbumCalls();
  const ids = assets.map(({ assetId }) => assetId);
  const areFavorites = assets.every(({ favorite }) => favorite);
  const one = assets.length === 1 ? assets[0] : undefined;
  const isMedia = assets.every((asset) => isImage(asset) || isVideo(asset));
  const areFew = ids.length > 1 && ids.length <= mostCompared && assets.every(isImage);
  const perform = (work: () => Promise<unknown>) => () => void work().catch(notifyFailure);
  const deeds: readonly (Deed | false | undefined)[] = [
    one && isImage(one) && ['Use as reference', ImagePlus, () => referInStudio(one)],
    areFew && ['Compare', Columns2, () => openDialog({ kind: 'compare', assetIds: ids })],
    isMedia && [
      'Share',
      Share2,
      () =>
        openDialog(
          one ? { kind: 'share', asset: one, prompt: one.prompt } : { kind: 'album', assetIds: ids, isShared: true },
        ),
    ],
    ['Add to album', FolderPlus, () => openDialog({ kind: 'album', assetIds: ids })],
    album !== '' && [
      'Remove from album',
      FolderMinus,
      perform(() => albums.change(album, { remove: ids }).then(clear)),
    ],
    ['Favorite', Heart, perform(() => changeFavorites(ids, !areFavorites)), { 'aria-pressed': areFavorites }],
    ['Download', Download, perform(() => downloadAll(user, assets))],
    ['Delete', Trash2, onDelete, { className: 'danger' }],
  ];
  return deeds
    .filter((deed) => deed !== false && deed !== undefined)
    .map(([text, Icon, onClick, more]) => <Button key={text} title={text} {...{ Icon, text, onClick, ...more }} />);
}

interface NothingProps {
  readonly isFiltered: boolean;
  readonly filters: Filters;
  readonly onUpload: () => void;
  readonly onReset: () => void;
}

function Nothing({ isFiltered, filters, onUpload, onReset }: NothingProps) {
  const { album, q } = filters;
  const isFavorites = filtering(filters) === '?favorites=1';
  if (isFiltered)
    return (
      <Empty title={isFavorites ? 'No favorites yet.' : nothingFor(q)}>
        {isFavorites && <p>Mark an image or a video with its heart, and it appears here.</p>}
        <button type="button" onClick={onReset}>
          Show everything
        </button>
      </Empty>
    );
  const isAlbum = album !== '';
  return (
    <Empty Icon={Images} title={isAlbum ? 'This album is empty.' : 'Nothing here yet.'}>
      <p>
        {isAlbum
          ? 'Add images and videos from your library, drag them onto the album there, or drop files here.'
          : 'Images and videos that you create appear here. You can also drop files anywhere to upload them.'}
      </p>
      <div className="does">
        <Link className="button primary" href={isAlbum ? `/library?addTo=${album}` : '/create'}>
          {isAlbum ? 'Add from your library' : 'Create an image'}
        </Link>
        <Button Icon={Upload} text="Upload" onClick={onUpload} />
      </div>
    </Empty>
  );
}

interface AlbumHeaderProps {
  readonly filters: Filters;
  readonly onUpload: () => void;
  /** `undefined`: the filter bar has it. */
  readonly onSelect: (() => void) | undefined;
}

const orders = Object.entries({ '': 'Newest', oldest: 'Oldest' });

function AlbumHeader({ filters, onUpload, onSelect }: AlbumHeaderProps) {
  const collectionId = filters.album;
  const { data: album, error } = useAlbum(collectionId);
  const sharing = { kind: 'share-album', collectionId } as const;
  const { data: share } = useShare(sharing);
  const [isEditing, setEditing] = useState(false);
  return (
    <header className="page album">
      <div>
        <BackToAlbums />
        <h1>{album?.title ?? 'Album'}</h1>
        {error && <p className="problem">{error.message}</p>}
        {album && (
          <p className="quiet small">
            {plural(album.count, 'item')}
            {album.count > 1 && ', ordered by upload or creation'}
          </p>
        )}
      </div>
      {album && (
        <div className="does">
          {album.count > 0 && (
            <>
              <Menu trigger={<Button Icon={Plus} text="Add" className="onlyicon primary" />}>
                <MenuItem Icon={Images} onSelect={() => navigate(`/library?addTo=${collectionId}`)}>
                  From your library
                </MenuItem>
                <MenuItem Icon={Upload} onSelect={onUpload}>
                  Upload
                </MenuItem>
              </Menu>
              <Button
                Icon={share ? Link2 : Share2}
                text={share ? 'Shared' : 'Share'}
                onClick={() => openDialog(sharing)}
              />
            </>
          )}
          <Button Icon={Pencil} text="Edit" className="onlyicon" onClick={() => setEditing(true)} />
          {onSelect && <Button Icon={CircleCheck} text="Select" className="onlyicon" onClick={onSelect} />}
          {album.count > 1 && (
            <Choice
              label=""
              aria-label="Sort"
              choices={orders}
              value={filters.sort}
              onChange={(order) => navigate(linkOfAlbum(collectionId, order))}
            />
          )}
        </div>
      )}
      {album && isEditing && <AlbumDialog album={album} onClose={() => setEditing(false)} />}
    </header>
  );
}

const BackToAlbums = () => (
  <Link href="/albums" className="back">
    <ChevronLeft {...icon} />
    Albums
  </Link>
);

/** What is selected goes into the album that the user came from. */
function AddingBar({ collectionId, choosing }: { readonly collectionId: string; readonly choosing: Choosing }) {
  const { chosen, clear } = choosing;
  const { data: album } = useAlbum(collectionId);
  const calls = useAlbumCalls();
  const back = () => {
    clear();
    navigate(linkOfAlbum(collectionId), { replace: true });
  };
  const add = () =>
    calls.change(collectionId, { add: [...chosen] }).then(() => {
      notify(`Added ${plural(chosen.size, 'item')} to “${album?.title}”.`);
      back();
    }, notifyFailure);
  return (
    <div className="filterbar selection" role="toolbar" aria-label="Add to the album">
      <IconButton label="Cancel" Icon={X} onClick={back} />
      <h1 className="cut">Add to “{album?.title}”</h1>
      <span className="gap" />
      <Button
        Icon={FolderPlus}
        text={chosen.size === 0 ? 'Select images and videos' : `Add ${plural(chosen.size, 'item')}`}
        className="primary"
        disabled={chosen.size === 0}
        onClick={add}
      />
    </div>
  );
}

/** In the navigation: opens an album, and takes what is dragged onto it. */
function AlbumShelf() {
  const { data: albums = [] } = useAlbums();
  const { album } = filtersOf(useSearch());
  const calls = useAlbumCalls();
  const [over, setOver] = useState('');
  if (albums.length === 0) return null;
  const take = (collectionId: string, title: string, dropped: string) => {
    setOver('');
    if (dropped === '') return;
    const add: readonly string[] = JSON.parse(dropped);
    calls
      .change(collectionId, { add })
      .then(() => notify(`Added ${plural(add.length, 'item')} to “${title}”.`), notifyFailure);
  };
  return (
    <InSidebar>
      <nav aria-label="Albums" className="shelf pages">
        <p className="quiet">Albums</p>
        {albums.map(({ collectionId, title, count }) => (
          <Link
            key={collectionId}
            href={linkOfAlbum(collectionId)}
            aria-current={collectionId === album ? 'page' : undefined}
            className={over === collectionId ? 'over' : ''}
            onDragOver={(event) => {
              if (!event.dataTransfer.types.includes(draggedAssets)) return;
              event.preventDefault();
              setOver(collectionId);
            }}
            onDragLeave={() => setOver('')}
            onDrop={(event) => {
              event.preventDefault();
              take(collectionId, title, event.dataTransfer.getData(draggedAssets));
            }}
          >
            <span className="cut">{title}</span>
            <span className="small">{count}</span>
          </Link>
        ))}
      </nav>
    </InSidebar>
  );
}

function DropAnywhere({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const isOver = useDroppedFiles(onFiles);
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
  const utcOffset = -new Date().getTimezoneOffset();
  const { data } = useOwn<AssetMonths>(['months'], 'media', `/v1/assets/months?utcOffset=${utcOffset}`);
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
            <span className="quiet small">{plural(count, 'item')}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
