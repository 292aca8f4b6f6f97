import '../library/library.css';
import '../explore/explore.css';
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import {
  ChevronLeft,
  ChevronRight,
  Clapperboard,
  Copy,
  Flag,
  ImagePlus,
  Megaphone,
  Play,
  Sparkles,
  TrendingUp,
  WandSparkles,
  X,
} from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useParams, useSearch } from 'wouter';
import type { Announcement, HomeCards, PublicGallery, Trending } from '#client/content/api.ts';
import { callJson } from '../calls.ts';
import { Segments } from '../create/fields.tsx';
import { startCreating } from '../create/order.ts';
import { fromPage } from '../library/actions.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { namesOfTypes } from '../library/filterbar.tsx';
import '../library/lightbox.css';
import '../library/mediaactions.css';
import { useSigned } from '../library/signing.ts';
import { Zoomable } from '../library/zoomable.tsx';
import { useConsole } from '../operator.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Find, TextArea } from '../parts/fields.tsx';
import { When } from '../parts/figures.tsx';
import { Button, IconButton, icon } from '../parts/iconbutton.tsx';
import { reasonNames } from '../parts/reasons.ts';
import { Empty, Loading, Pending, Problem } from '../parts/states.tsx';
import { useModal } from '../shell/modal.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';

const kinds = ['', 'image', 'video'] as const;
const labels: Readonly<Record<string, string>> = { ai: 'Made with AI', edited: 'Edited with AI' };

/** The filters are in the URL, as in the library. */
function filterOf(search: string) {
  const query = new URLSearchParams(search);
  return { q: query.get('q') ?? '', kind: kinds.find((kind) => kind === query.get('kind')) ?? '' };
}

const linkOf = (filter: Partial<ReturnType<typeof filterOf>>, assetId?: string) => {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  return `/explore${assetId === undefined ? '' : `/${assetId}`}${query.size === 0 ? '' : `?${query}`}`;
};

export function Explore() {
  const { assetId } = useParams<{ readonly assetId?: string }>();
  const search = useSearch();
  const filter = useMemo(() => filterOf(search), [search]);
  const [, navigate] = useLocation();
  const change = (part: Partial<typeof filter>) => navigate(linkOf({ ...filter, ...part }), { replace: true });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useGallery(filter);
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  return (
    <div className="explore">
      <header className="page">
        <h1>Explore</h1>
        <Find label="Search prompts and authors" value={filter.q} onChange={(q) => change({ q })} />
        <Segments
          name="Kind"
          options={kinds}
          chosen={filter.kind}
          onChoose={(kind) => change({ kind })}
          textOf={(kind) => namesOfTypes[kind]}
        />
      </header>
      <News />
      {filter.q === '' && <Ideas />}
      <section aria-label="Published by users">
        {items === undefined ? (
          <Pending error={error} retry={refetch} what="Reading the gallery" hasTiles />
        ) : items.length > 0 ? (
          <ul className="gallery">
            {items.map((item) => (
              <Tile key={item.assetId} item={item} filter={filter} />
            ))}
          </ul>
        ) : linkOf(filter) !== '/explore' ? (
          <Empty title="Nothing matches.">
            <button type="button" onClick={() => change({ q: '', kind: '' })}>
              Show everything
            </button>
          </Empty>
        ) : (
          <Empty title="The wall is waiting for its first image">
            <p>Open one of your images, choose “Share”, and publish it. Everyone here can then see and remix it.</p>
            <div className="does">
              <Link className="button primary" href="/create">
                Create an image
              </Link>
              <Link className="button" href="/library">
                Choose from your library
              </Link>
            </div>
          </Empty>
        )}
        {hasNextPage && <More onMore={more} isBusy={isFetchingNextPage} />}
      </section>
      {assetId !== undefined && items !== undefined && (
        <Viewer
          assetId={assetId}
          items={items}
          hasMore={hasNextPage}
          onMore={more}
          onShow={(id) => navigate(linkOf(filter, id), { replace: true, state: history.state })}
          onClose={() => (history.state?.fromPage ? history.back() : navigate(linkOf(filter), { replace: true }))}
        />
      )}
    </div>
  );
}

/** Reads on when it comes into view. */
function More({ onMore, isBusy }: { readonly onMore: () => void; readonly isBusy: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore(), { rootMargin: '800px' });
    if (button.current) observer.observe(button.current);
    return () => observer.disconnect();
  }, [onMore]);
  return (
    <button ref={button} type="button" disabled={isBusy} onClick={onMore}>
      Show more
    </button>
  );
}

/** A tile is never a thin line. */
const shapeOf = ({ width, height }: GalleryItem) =>
  width && height ? Math.min(2.5, Math.max(0.56, width / height)) : 1;

const titleOf = ({ prompt, kind }: GalleryItem) => prompt ?? `A published ${kind}`;

/** Rows are justified: tiles of a row share its width by their shapes. */
function Tile({ item, filter }: { readonly item: GalleryItem; readonly filter: ReturnType<typeof filterOf> }) {
  const { assetId, kind, blurhash, previewUrl, thumbUrl, generated, prompt, author } = item;
  const ratio = shapeOf(item);
  return (
    <li ref={(tile) => tile?.style.setProperty('--ratio', String(ratio))}>
      <Link href={linkOf(filter, assetId)} state={fromPage} aria-label={`Open: ${titleOf(item)}`} className="picture">
        <AssetImage url={previewUrl ?? thumbUrl ?? undefined} alt="" blurhash={blurhash} />
      </Link>
      <span className="marks">
        {kind === 'video' && (
          <span className="badge">
            <Play {...icon} />
            <span className="unseen">Video</span>
          </span>
        )}
        {generated !== null && (
          <span className="badge" title={labels[generated]}>
            AI<span className="unseen">: {labels[generated]}</span>
          </span>
        )}
      </span>
      <div className="over">
        <p>
          {prompt !== null && <span className="words">{prompt}</span>}
          <span className="small cut">{author ?? 'Anonymous'}</span>
        </p>
        <button type="button" aria-label={`Remix: ${titleOf(item)}`} className="remix" onClick={() => remix(item)}>
          <WandSparkles {...icon} />
          <span>Remix</span>
        </button>
      </div>
    </li>
  );
}

const referencesOf = ({ kind, assetId }: GalleryItem) => (kind === 'image' ? [assetId] : []);
const remix = (item: GalleryItem) =>
  startCreating({ kind: item.kind, prompt: item.prompt ?? '', references: referencesOf(item), count: 1 });

interface ViewerProps {
  readonly assetId: string;
  readonly items: readonly GalleryItem[];
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly onShow: (assetId: string) => void;
  readonly onClose: () => void;
}

/** One of the gallery in the whole window. It has its own URL, so the Back button closes it. */
function Viewer({ assetId, items, hasMore, onMore, onShow, onClose }: ViewerProps) {
  const dialog = useModal();
  const [isReporting, setReporting] = useState(false);
  const place = items.findIndex((one) => one.assetId === assetId);
  const item = items[place];
  const step = (by: 1 | -1) => {
    const next = place < 0 ? undefined : items[place + by];
    return next && (() => onShow(next.assetId));
  };
  const [before, after] = [step(-1), step(1)];
  // A link can lead to one that is further down.
  const isSought = item === undefined && hasMore && items.length < mostSought;
  useEffect(() => {
    if (isSought || (place >= items.length - 3 && hasMore)) onMore();
  }, [isSought, place, items.length, hasMore, onMore]);
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (isReporting || target instanceof HTMLVideoElement) return;
      if (key === 'ArrowLeft') before?.();
      if (key === 'ArrowRight') after?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <dialog
      ref={dialog}
      className="lightbox withfacts"
      aria-label={item ? titleOf(item) : 'Published'}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="top">
        <IconButton label="Close" Icon={X} size={20} onClick={onClose} />
        {item && (
          <div className="mediaactions">
            <Button Icon={Flag} text="Report" className="plain" onClick={() => setReporting(true)} />
          </div>
        )}
      </div>
      <div className="stage">
        {item ? (
          <Picture key={assetId} item={item} onSwipe={(by) => (by === 1 ? after : before)?.()} />
        ) : isSought ? (
          <Loading what="Looking for it" />
        ) : (
          <p className="quiet">This is not published any longer.</p>
        )}
        {before && (
          <IconButton className="step before" label="Previous" Icon={ChevronLeft} size={20} onClick={before} />
        )}
        {after && <IconButton className="step after" label="Next" Icon={ChevronRight} size={20} onClick={after} />}
      </div>
      <aside className="aside" aria-label="Details">
        {item && <About item={item} />}
      </aside>
      {isReporting && <ReportDialog assetId={assetId} onClose={() => setReporting(false)} />}
    </dialog>
  );
}

/** As many as one looks through for a link. */
const mostSought = 500;

function Picture({ item, onSwipe }: { readonly item: GalleryItem; readonly onSwipe: (step: 1 | -1) => void }) {
  const { assetId, kind, previewUrl, thumbUrl, blurhash } = item;
  const { data } = useSigned('video', kind === 'video' ? assetId : null);
  if (kind === 'video')
    return (
      <video
        controls
        autoPlay={!matchMedia('(prefers-reduced-motion: reduce)').matches}
        muted
        loop
        playsInline
        src={data?.playUrl ?? data?.url}
        poster={previewUrl ?? undefined}
        aria-label={titleOf(item)}
      />
    );
  return (
    <Zoomable onSwipe={onSwipe}>
      <AssetImage url={previewUrl ?? thumbUrl ?? undefined} alt={titleOf(item)} blurhash={blurhash} isWhole />
    </Zoomable>
  );
}

function About({ item }: { readonly item: GalleryItem }) {
  const { kind, prompt, author, generated, width, height, publishedAt } = item;
  return (
    <>
      <section>
        <p className="strong">{author === null ? 'Anonymous' : <Link href={linkOf({ q: author })}>{author}</Link>}</p>
        <p className="quiet small">
          Published <When at={publishedAt} />
        </p>
      </section>
      <section>
        <h2>Prompt</h2>
        <p className="prompt">{prompt ?? 'The author does not show the prompt.'}</p>
        {prompt !== null && (
          <Button
            Icon={Copy}
            text="Copy the prompt"
            className="plain"
            onClick={() =>
              navigator.clipboard.writeText(prompt).then(() => notify('The prompt is copied.'), notifyFailure)
            }
          />
        )}
      </section>
      <div className="actions">
        <Button Icon={WandSparkles} text="Remix" className="primary" onClick={() => remix(item)} />
        {kind === 'image' && (
          <>
            <Button
              Icon={ImagePlus}
              text="Use as reference"
              onClick={() => startCreating({ prompt: '', references: referencesOf(item), count: 1 })}
            />
            <Button
              Icon={Clapperboard}
              text="Animate"
              onClick={() => startCreating({ kind: 'video', prompt: '', references: referencesOf(item) })}
            />
          </>
        )}
      </div>
      <dl>
        {generated !== null && (
          <div>
            <dt>Origin</dt>
            <dd>{labels[generated]}</dd>
          </div>
        )}
        {width !== null && height !== null && (
          <div>
            <dt>Dimensions</dt>
            <dd>
              {width} × {height}
            </dd>
          </div>
        )}
      </dl>
    </>
  );
}

/** Links of operators lead to web pages, or to a page of the console. */
const isLink = (url: string) => /^(https?:\/\/|\/(?!\/))/i.test(url);
const readKey = 'atelier.read-news';

function News() {
  const [read, setRead] = useState(() => localStorage.getItem(readKey));
  const {
    visible = false,
    title = '',
    description = '',
    url = '',
  } = useContent<Announcement>('/op/announcement') ?? {};
  if (!visible || title + url === read) return null;
  return (
    <section className="news" aria-label="News">
      <p>
        <Megaphone {...icon} />
        <span className="strong">{title}</span> {description}
        {isLink(url) && <a href={url}>Read more</a>}
      </p>
      <IconButton
        label="Dismiss"
        Icon={X}
        onClick={() => {
          localStorage.setItem(readKey, title + url);
          setRead(title + url);
        }}
      />
    </section>
  );
}

/** The operators' cards, each of which starts an order with its prompt, and what is trending. */
function Ideas() {
  const { cards = [], featuredCardIds = [] } = useContent<HomeCards>('/op/homecards/v2') ?? {};
  const trending = useContent<Trending>('/op/trending')?.items ?? [];
  const { pictureHosts = [] } = useConsole().data ?? {};
  // The pictures of the samples are beside the page.
  const isShown = (image: string) => /^\/(?!\/)/.test(image) || pictureHosts.includes(URL.parse(image)?.host ?? '');
  const usable = cards.filter(({ prompt }) => prompt !== '');
  const order = (id: string) => (featuredCardIds.includes(id) ? 0 : 1);
  const links = trending.filter(({ url }) => isLink(url));
  if (usable.length + links.length === 0) return null;
  return (
    <section className="ideas" aria-label="Ideas">
      <h2>Ideas</h2>
      <ul>
        {usable
          .toSorted((one, other) => order(one.id) - order(other.id))
          .slice(0, 12)
          .map(({ id, title, description, prompt, ratio, mediaType, image }) => (
            <li key={id}>
              <button
                type="button"
                title={description === '' ? prompt : description}
                onClick={() => startCreating({ kind: mediaType, prompt, ratio: ratio === 'auto' ? undefined : ratio })}
              >
                {isShown(image) && <img src={image} alt="" loading="lazy" />}
                <span>
                  {mediaType === 'video' ? <Clapperboard {...icon} /> : <Sparkles {...icon} />}
                  {title}
                </span>
              </button>
            </li>
          ))}
        {links.slice(0, 6).map(({ title, url }) => (
          <li key={url}>
            <a className="button" href={url}>
              <span>
                <TrendingUp {...icon} />
                {title}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

// What everyone has published, and what the operators show, from the content service.

type GalleryItem = PublicGallery['items'][number];

const useContentUrl = (): string | undefined => useConsole().data?.addresses.content;

function useGallery({ kind, q }: ReturnType<typeof filterOf>) {
  const url = useContentUrl();
  return useInfiniteQuery({
    queryKey: ['gallery', kind, q],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        limit: '48',
        ...(kind && { kind }),
        ...(q && { q }),
        ...(pageParam && { cursor: pageParam }),
      });
      // The browser would show its stored page for another 30 s after a publication.
      return callJson<PublicGallery>(`${url}/op/gallery?${query}`, { signal, cache: 'no-cache' });
    },
    enabled: url !== undefined,
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    // The URLs of the images are valid for ten minutes.
    staleTime: 240_000,
  });
}

function useContent<T>(path: string) {
  const url = useContentUrl();
  return useQuery({
    queryKey: ['content', path, navigator.language],
    queryFn: ({ signal }) => callJson<T>(url + path, { signal, headers: { 'accept-language': navigator.language } }),
    enabled: url !== undefined,
    staleTime: 300_000,
    retry: false,
  }).data;
}

/** The decision about it reaches the address of the account. */
function ReportDialog({ assetId, onClose }: { readonly assetId: string; readonly onClose: () => void }) {
  const user = useUser();
  const [reason, setReason] = useState('');
  const [note, setNote] = useState('');
  const reporting = useMutation({
    mutationFn: async () => {
      const json = { assetId, reason, locale: navigator.language, ...(note.trim() !== '' && { note: note.trim() }) };
      await user.send('media', '/v1/reports', { method: 'POST', json });
      notify('Reported. You get our decision by email.');
      onClose();
    },
  });
  return (
    <Dialog title="Report" onClose={onClose}>
      <form className="stack" action={() => reporting.mutate()}>
        <Choice
          label="Reason"
          choices={[['', 'Choose a reason'], ...Object.entries(reasonNames)]}
          required
          value={reason}
          onChange={setReason}
        />
        <TextArea label="Details (optional)" rows={4} maxLength={2000} value={note} onChange={setNote} />
        <Problem of={reporting.error} />
        <div>
          <button type="submit" className="primary" disabled={reason === '' || reporting.isPending}>
            Send the report
          </button>
        </div>
      </form>
    </Dialog>
  );
}
