import '../library/library.css';
import '../explore/explore.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import {
  Clapperboard,
  Copy,
  Flag,
  ImagePlus,
  Link as LinkIcon,
  Megaphone,
  Play,
  TrendingUp,
  WandSparkles,
  X,
} from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useParams, useSearch } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import type { Announcement, HomeCards, PublicGallery, Trending } from '#client/content/api.ts';
import { callJson } from '../calls.ts';
import { Segments } from '../create/fields.tsx';
import { startCreating } from '../create/order.ts';
import { fromPage } from '../library/actions.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { promptOf } from '../library/assets.ts';
import { namesOfTypes, nothingFor } from '../library/filterbar.tsx';
import { fromSearch, toSearch } from '../shell/page.ts';
import '../library/mediaactions.css';
import { copyLink } from '../library/shares.ts';
import { useSigned } from '../library/signing.ts';
import { Film, Stage, type Steps, stepsIn, Viewer, Zoomable } from '../library/stage.tsx';
import { useConsole } from '../operator.tsx';
import { Choice, Find, TextArea } from '../parts/fields.tsx';
import { plural, When } from '../parts/figures.tsx';
import { Button, IconButton, icon } from '../parts/iconbutton.tsx';
import reasonNames from '../parts/reasons.json' with { type: 'json' };
import { SaveForm } from '../parts/saveform.tsx';
import { useCursor, useDeed } from '../parts/server.ts';
import { Empty, Loading, Pending } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { useStored } from '../shell/browser.ts';
import { notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';

const kinds = ['', 'image', 'video'];
const shapes = { '': 'Any shape', wide: 'Wide', tall: 'Tall', square: 'Square' };
const sorts = { '': 'Newest first', remixed: 'Most remixed first' };
const labels: Readonly<Record<string, string>> = { ai: 'Made with AI', edited: 'Edited with AI' };

const allowed = { q: /./, kind: /^(?:image|video)$/, shape: /^(?:wide|tall|square)$/, sort: /^remixed$/ };
const filterOf = (search: string) => fromSearch(allowed, search);
type Filter = ReturnType<typeof filterOf>;

const linkOf = (filter: Partial<Filter>, assetId?: string) =>
  `/explore${assetId === undefined ? '' : `/${assetId}`}${toSearch(filter)}`;

export function Explore() {
  const { assetId } = useParams<{ readonly assetId?: string }>();
  const search = useSearch();
  const filter = useMemo(() => filterOf(search), [search]);
  const change = (part: Partial<Filter>) => navigate(linkOf({ ...filter, ...part }), { replace: true });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useGallery(filter);
  const items = useMemo(() => data?.pages.flatMap((page) => page.items.map(inWordsOfAuthor)), [data]);
  const { ideas, links } = useIdeas();
  const isFiltered = linkOf({ ...filter, sort: '' }) !== '/explore';
  // A wall that is short goes on with ideas. Otherwise, they are a row above it.
  const isShort = items !== undefined && !hasNextPage && items.length < enoughItems;
  const suited = ideas.filter((idea) => suits(idea, filter) && (isShort || !isFiltered));
  const ideasSection = items !== undefined && suited.length > 0 && (
    <section aria-labelledby="explore-ideas" className={isShort ? '' : 'ideas'}>
      <h2 id="explore-ideas">Ideas to start from</h2>
      <Wall items={suited} filter={filter} />
    </section>
  );
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
          textOf={(kind) => namesOfTypes[kind] ?? ''}
        />
        {(
          [
            ['Shape', 'shape', shapes],
            ['Order', 'sort', sorts],
          ] as const
        ).map(([label, part, names]) => (
          <Choice
            key={part}
            label={label}
            choices={Object.entries(names)}
            value={filter[part]}
            onChange={(key) => change({ [part]: key })}
          />
        ))}
      </header>
      <News />
      {links.length > 0 && (
        <ul className="does trending" aria-label="Trending">
          {links.map(({ title, url }) => (
            <li key={url}>
              <a className="button" href={url}>
                <TrendingUp {...icon} />
                {title}
              </a>
            </li>
          ))}
        </ul>
      )}
      {!isShort && ideasSection}
      <section aria-label="Published by users">
        {items !== undefined && items.length > 0 && <h2>Published by users</h2>}
        {items === undefined ? (
          <Pending error={error} retry={refetch} what="Reading the gallery" hasTiles />
        ) : items.length > 0 ? (
          <Wall items={items} filter={filter} />
        ) : isFiltered ? (
          suited.length === 0 && (
            <Empty title={nothingFor(filter.q)}>
              <button type="button" onClick={() => change({ q: '', kind: '', shape: '' })}>
                Show everything
              </button>
            </Empty>
          )
        ) : (
          <div className="card first">
            <p>
              <span className="strong">Be the first on this wall.</span> Open one of your images, choose “Share”, and
              publish it. Everyone here can then see and remix it.
            </p>
            <Link className="button" href="/library">
              Choose from your library
            </Link>
          </div>
        )}
        {hasNextPage && <More onMore={more} isBusy={isFetchingNextPage} />}
      </section>
      {isShort && ideasSection}
      {assetId !== undefined && items !== undefined && (
        <Opened
          assetId={assetId}
          items={[...items, ...suited]}
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
const shapeOf = ({ width, height }: Item) => (width && height ? Math.min(2.5, Math.max(0.56, width / height)) : 1);

const titleOf = ({ prompt, kind }: Item) => prompt ?? `A published ${kind}`;
const remixesOf = (count: number) => `Remixed by ${plural(count, 'other')}`;

const Wall = ({ items, filter }: { readonly items: readonly Item[]; readonly filter: Filter }) => (
  <ul className="gallery">
    {items.map((item) => (
      <Tile key={item.assetId} item={item} filter={filter} />
    ))}
  </ul>
);

/** Rows are justified: tiles of a row share its width by their shapes. */
function Tile({ item, filter }: { readonly item: Item; readonly filter: Filter }) {
  const { assetId, kind, blurhash, previewUrl, thumbUrl, generated, prompt, author, remixes } = item;
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
          <span className="small cut">
            {author ?? 'Anonymous'}
            {remixes > 0 && ` · ${remixesOf(remixes)}`}
          </span>
        </p>
        <button
          type="button"
          aria-label={`${item.idea === undefined ? 'Remix' : 'Use the prompt'}: ${titleOf(item)}`}
          className="remix"
          onClick={() => remix(item)}
        >
          <WandSparkles {...icon} />
          <span>{item.idea === undefined ? 'Remix' : 'Use the prompt'}</span>
        </button>
      </div>
    </li>
  );
}

const referencesOf = ({ kind, assetId, idea }: Item) => (kind === 'image' && idea === undefined ? [assetId] : []);
/** Of an idea, only the prompt: its picture is not an asset. */
const remix = (item: Item) =>
  startCreating({
    kind: item.kind,
    prompt: item.prompt ?? '',
    references: referencesOf(item),
    ...(item.idea === undefined ? { count: 1 } : item.idea.ratio !== 'auto' && { ratio: item.idea.ratio }),
  });

interface OpenedProps {
  readonly assetId: string;
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly onShow: (assetId: string) => void;
  readonly onClose: () => void;
}

/** One of the gallery. */
function Opened({ assetId, items, hasMore, onMore, onShow, onClose }: OpenedProps) {
  const [isReporting, setReporting] = useState(false);
  const place = items.findIndex((one) => one.assetId === assetId);
  const item = items[place];
  const steps = stepsIn(items, place, (next) => onShow(next.assetId));
  // A link can lead to one that is further down.
  const isSought = item === undefined && hasMore && items.length < mostSought;
  useEffect(() => {
    if (isSought || (place >= items.length - 3 && hasMore)) onMore();
  }, [isSought, place, items.length, hasMore, onMore]);
  const top = item && item.idea === undefined && (
    <div className="mediaactions">
      <Button
        Icon={LinkIcon}
        text="Copy link"
        className="plain"
        onClick={() => copyLink(new URL(linkOf({}, assetId), location.href).href).catch(notifyFailure)}
      />
      <Button Icon={Flag} text="Report" className="plain" onClick={() => setReporting(true)} />
    </div>
  );
  return (
    <Viewer label={item ? titleOf(item) : 'Published'} top={top} hasAside onClose={onClose}>
      <Stage steps={steps} isCovered={isReporting}>
        {item ? (
          <Picture key={assetId} item={item} steps={steps} />
        ) : isSought ? (
          <Loading what="Looking for it" />
        ) : (
          <p className="quiet">This is not published any longer.</p>
        )}
      </Stage>
      <aside className="aside" aria-label="Details">
        {item && <About item={item} />}
      </aside>
      {isReporting && <ReportDialog assetId={assetId} onClose={() => setReporting(false)} />}
    </Viewer>
  );
}

const inWordsOfAuthor = (item: Item) => ({ ...item, prompt: promptOf(item) });

/** For visitors without an account, the public image that a link leads to. */
export function Wanted() {
  const edge = useConsole().data?.addresses.edge;
  const query = new URLSearchParams(location.search);
  const [, id, at = '/0'] = /^([\w-]+)(\/\d+)?$/.exec(query.get('share') ?? '') ?? [];
  if (location.pathname !== '/create') return <Published assetId={location.pathname.split('/')[2] ?? ''} />;
  const prompt = query.get('prompt') ?? '';
  return <figure className="wanted">{id && <img src={`${edge}/s/${id}${at}/preview.webp`} alt={prompt} />}</figure>;
}

function Published({ assetId }: { readonly assetId: string }) {
  const { data, hasNextPage, isFetching, fetchNextPage } = useGallery(filterOf(''));
  const items = data?.pages.flatMap((page) => page.items.map(inWordsOfAuthor)) ?? [];
  const item = items.find((one) => one.assetId === assetId);
  const isSought = item === undefined && hasNextPage && items.length < mostSought;
  useEffect(() => void (isSought && !isFetching && fetchNextPage()), [isSought, isFetching, fetchNextPage]);
  if (item === undefined) return data && !isSought && <p className="quiet">This is not published any longer.</p>;
  return (
    <figure className="wanted">
      <img src={item.previewUrl ?? item.thumbUrl ?? ''} alt={titleOf(item)} />
      <figcaption>
        <p>{item.prompt}</p>
        <p className="quiet small">By {item.author ?? 'Anonymous'}</p>
      </figcaption>
    </figure>
  );
}

/** As many as one looks through for a link. */
const mostSought = 500;

function Picture({ item, steps }: { readonly item: Item; readonly steps: Steps }) {
  const { assetId, kind, previewUrl, thumbUrl, blurhash, idea } = item;
  const isVideo = kind === 'video' && idea === undefined;
  const { data } = useSigned('video', isVideo ? assetId : null);
  if (isVideo) return <Film url={data?.playUrl ?? data?.url} poster={previewUrl ?? undefined} label={titleOf(item)} />;
  return (
    <Zoomable pixels={item.width} steps={steps}>
      <AssetImage url={previewUrl ?? thumbUrl ?? undefined} alt={titleOf(item)} blurhash={blurhash} isWhole />
    </Zoomable>
  );
}

function About({ item }: { readonly item: Item }) {
  const { kind, prompt, author, generated, width, height, publishedAt, remixes, idea } = item;
  return (
    <>
      {idea ? (
        <section>
          <p className="strong">{idea.title}</p>
          <p className="quiet small">
            {kind === 'video' ? 'An idea for a video.' : 'An idea to start from.'} The image is an example.
          </p>
        </section>
      ) : (
        <section>
          <p className="strong">{author === null ? 'Anonymous' : <Link href={linkOf({ q: author })}>{author}</Link>}</p>
          <p className="quiet small facts">
            <span>
              Published <When at={publishedAt} />
            </span>
            {remixes > 0 && <span>{remixesOf(remixes)}</span>}
          </p>
        </section>
      )}
      <section>
        <h2>Prompt</h2>
        <p className="prompt">{prompt ?? 'The author does not show the prompt.'}</p>
        {prompt !== null && (
          <Button
            Icon={Copy}
            text="Copy the prompt"
            className="plain"
            onClick={() => copyLink(prompt, 'The prompt is copied.').catch(notifyFailure)}
          />
        )}
      </section>
      <div className="actions">
        <Button
          Icon={WandSparkles}
          text={idea === undefined ? 'Remix' : 'Use the prompt'}
          className="primary"
          onClick={() => remix(item)}
        />
        {kind === 'image' && idea === undefined && (
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
      <Pairs
        of={{
          ...(generated !== null && { Origin: labels[generated] }),
          ...(idea === undefined && width !== null && height !== null && { Dimensions: `${width} × ${height}` }),
        }}
      />
    </>
  );
}

/** Links of operators lead to web pages, or to a page of the console. */
const isLink = (url: string) => /^(https?:\/\/|\/(?!\/))/i.test(url);

function News() {
  const [read, setRead] = useStored('atelier.read-news');
  const { visible, title = '', description, url = '' } = useContent<Announcement>('/op/announcement') ?? {};
  if (!visible || title + url === read) return null;
  return (
    <section className="news" aria-label="News">
      <p>
        <Megaphone {...icon} />
        <span className="strong">{title}</span> {description}
        {isLink(url) && <a href={url}>Read more</a>}
      </p>
      <IconButton label="Dismiss" Icon={X} onClick={() => setRead(title + url)} />
    </section>
  );
}

/** A card of the operators, as an item of the wall. */
interface Item extends GalleryItem {
  readonly idea?: HomeCards['cards'][number];
}

/** As many published items need no ideas below them. */
const enoughItems = 24;

const suits = (item: Item, { q, kind, shape }: Filter) => {
  const text = `${item.idea?.title} ${item.prompt}`.toLowerCase();
  const ratio = shapeOf(item);
  return (
    (kind === '' || kind === item.kind) &&
    (shape === '' || shape === (ratio === 1 ? 'square' : ratio > 1 ? 'wide' : 'tall')) &&
    q.split(/\s+/).every((word) => text.includes(word.toLowerCase()))
  );
};

/** The operators' cards, the featured ones first, and links to what is trending. */
function useIdeas() {
  const { cards = [], featuredCardIds = [] } = useContent<HomeCards>('/op/homecards/v2') ?? {};
  const trending = useContent<Trending>('/op/trending')?.items ?? [];
  const { pictureHosts = [] } = useConsole().data ?? {};
  // The pictures of the samples are beside the page.
  const isShown = (image: string) => /^\/(?!\/)/.test(image) || pictureHosts.includes(URL.parse(image)?.host ?? '');
  const order = (id: string) => (featuredCardIds.includes(id) ? 0 : 1);
  const ideas = cards
    .filter(({ prompt, image }) => prompt !== '' && isShown(image))
    .toSorted((one, other) => order(one.id) - order(other.id))
    .map((idea): Item => {
      const [width = 1, height = 1] = idea.ratio === 'auto' ? [] : idea.ratio.split(':').map(Number);
      const { id, mediaType, image, prompt } = idea;
      const none = { blurhash: null, thumbUrl: null, generated: null, remixes: 0, publishedAt: '' };
      const shown = { assetId: id, kind: mediaType, width, height, previewUrl: image, prompt, author: idea.title };
      return { ...none, idea, ...shown };
    });
  return { ideas, links: trending.filter(({ url }) => isLink(url)).slice(0, 6) };
}

// What everyone has published, and what the operators show, from the content service.

type GalleryItem = PublicGallery['items'][number];

const useContentUrl = (): string | undefined => useConsole().data?.addresses.content;

function useGallery({ kind, shape, sort, q }: Filter) {
  const url = useContentUrl();
  return useCursor<PublicGallery>(
    ['gallery', kind, shape, sort, q],
    (cursor, signal) => {
      // The most remixed have one page.
      const query = toSearch({ limit: sort === '' ? '48' : '100', kind, shape, sort, q, cursor });
      // The browser would show its stored page for another 30 s after a publication.
      return callJson(`${url}/op/gallery${query}`, { signal, cache: 'no-cache' });
    },
    // The URLs of the images are valid for ten minutes.
    { enabled: url !== undefined, placeholderData: keepPreviousData, staleTime: 240_000 },
  );
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
  const reporting = useDeed(async () => {
    const json = { assetId, reason, locale: navigator.language, ...(note.trim() !== '' && { note: note.trim() }) };
    await user.send('media', '/v1/reports', { method: 'POST', json });
    return 'Reported. You get our decision by email.';
  });
  return (
    <SaveForm title="Report" of={reporting} submit="Send the report" isReady={reason !== ''} onClose={onClose}>
      <Choice
        label="Reason"
        choices={[['', 'Choose a reason'], ...Object.entries(reasonNames)]}
        required
        value={reason}
        onChange={setReason}
      />
      <TextArea label="Details (optional)" rows={4} maxLength={2000} value={note} onChange={setNote} />
    </SaveForm>
  );
}
