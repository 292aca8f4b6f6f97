import '../library/library.css';
import '../explore/explore.css';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Flag, Megaphone, Sparkles, TrendingUp, WandSparkles } from 'lucide-react';
import { useState } from 'react';
import type { Announcement, HomeCards, PublicGallery, Trending } from '#client/content/api.ts';
import { callJson } from '../calls.ts';
import { startCreating } from '../create/order.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { useConsole } from '../operator.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { When } from '../parts/figures.tsx';
import { IconButton } from '../parts/iconbutton.tsx';
import { reasonNames } from '../parts/reasons.ts';
import { Empty, Pending, Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';
import { useUser } from '../user.tsx';

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;
const kinds = [
  ['', 'All'],
  ['image', 'Images'],
  ['video', 'Videos'],
] as const;
const labels: Readonly<Record<string, string>> = { ai: 'Made with AI', edited: 'Edited with AI' };

export function Explore() {
  const [kind, setKind] = useState<'' | 'image' | 'video'>('');
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useGallery(kind);
  const items = data?.pages.flatMap((page) => page.items);
  return (
    <div className="explore">
      <header className="page">
        <h1>Explore</h1>
        <fieldset className="segments" aria-label="Kind">
          {kinds.map(([value, name]) => (
            <label key={value}>
              <input
                type="radio"
                name="kind"
                className="unseen"
                checked={kind === value}
                onChange={() => setKind(value)}
              />
              {name}
            </label>
          ))}
        </fieldset>
      </header>
      <News />
      <Cards />
      <section aria-label="Published by users">
        {items === undefined ? (
          <Pending error={error} retry={refetch} what="Reading the gallery" />
        ) : items.length === 0 ? (
          <Empty title="Nothing is published yet.">
            <p>Open one of your images, choose “Share”, and publish it here.</p>
          </Empty>
        ) : (
          <ul className="gallery">
            {items.map((item) => (
              <li key={item.assetId}>
                <Item item={item} />
              </li>
            ))}
          </ul>
        )}
        {hasNextPage && (
          <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </button>
        )}
      </section>
    </div>
  );
}

function Item({ item }: { readonly item: GalleryItem }) {
  const { assetId, kind, width, height, blurhash, previewUrl, thumbUrl, generated, prompt, publishedAt } = item;
  const [isReporting, setReporting] = useState(false);
  const ratio = width && height ? `${width} / ${height}` : '1 / 1';
  return (
    <figure>
      <div className="picture" ref={(box) => box?.style.setProperty('aspect-ratio', ratio)}>
        <AssetImage
          url={previewUrl ?? thumbUrl ?? undefined}
          alt={prompt ?? `A published ${kind}`}
          blurhash={blurhash}
        />
        {generated !== null && <span className="badge">{labels[generated]}</span>}
      </div>
      <figcaption>
        {prompt !== null && <p className="prompt">{prompt}</p>}
        <span className="quiet small">
          <When at={publishedAt} />
        </span>
        <button
          type="button"
          onClick={() =>
            startCreating({ prompt: prompt ?? '', references: kind === 'image' ? [assetId] : [], count: 1 })
          }
        >
          <WandSparkles {...icon} />
          Remix
        </button>
        <IconButton label="Report" Icon={Flag} onClick={() => setReporting(true)} />
      </figcaption>
      {isReporting && <ReportDialog assetId={assetId} onClose={() => setReporting(false)} />}
    </figure>
  );
}

function News() {
  const announcement = useAnnouncement();
  const trending = useTrending()?.items ?? [];
  if (!announcement?.visible && trending.length === 0) return null;
  return (
    <section className="news" aria-label="News">
      {announcement?.visible && (
        <p>
          <Megaphone {...icon} />
          <span className="strong">{announcement.title}</span> {announcement.description}
          <Away url={announcement.url} name="Read more" />
        </p>
      )}
      {trending.length > 0 && (
        <p>
          <TrendingUp {...icon} />
          <span className="strong">Trending</span>
          {trending.slice(0, 6).map(({ title, url }) => (
            <Away key={url} url={url} name={title} />
          ))}
        </p>
      )}
    </section>
  );
}

/** Links of operators lead only to web pages. */
function Away({ url, name }: { readonly url: string; readonly name: string }) {
  if (!/^https?:\/\//i.test(url)) return <span>{name}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
}

/** The operators' cards: each starts an order with its prompt. */
function Cards() {
  const { cards = [], featuredCardIds = [] } = useHomeCards() ?? {};
  const { pictureHosts = [] } = useConsole().data ?? {};
  const isShown = (image: string) => pictureHosts.includes(URL.parse(image)?.host ?? '');
  const usable = cards.filter(({ prompt }) => prompt !== '');
  const order = (id: string) => (featuredCardIds.includes(id) ? 0 : 1);
  if (usable.length === 0) return null;
  return (
    <section aria-label="Ideas">
      <h2>Ideas</h2>
      <ul className="cards">
        {usable
          .toSorted((one, other) => order(one.id) - order(other.id))
          .slice(0, 12)
          .map(({ id, title, description, prompt, ratio, mediaType, image }) => (
            <li key={id}>
              <button
                type="button"
                onClick={() => startCreating({ kind: mediaType, prompt, ratio: ratio === 'auto' ? undefined : ratio })}
              >
                {isShown(image) && <img src={image} alt="" loading="lazy" />}
                <Sparkles {...icon} />
                <span className="strong">{title}</span>
                <span className="quiet small">{description === '' ? prompt : description}</span>
              </button>
            </li>
          ))}
      </ul>
    </section>
  );
}

// What everyone has published, and what the operators show, from the content service.

type GalleryItem = PublicGallery['items'][number];

const useContentUrl = (): string | undefined => useConsole().data?.addresses.content;

function useGallery(kind: '' | 'image' | 'video') {
  const url = useContentUrl();
  return useInfiniteQuery({
    queryKey: ['gallery', kind],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        limit: '48',
        ...(kind && { kind }),
        ...(pageParam && { cursor: pageParam }),
      });
      return callJson<PublicGallery>(`${url}/op/gallery?${query}`, { signal });
    },
    enabled: url !== undefined,
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
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

const useHomeCards = () => useContent<HomeCards>('/op/homecards/v2');
const useAnnouncement = () => useContent<Announcement>('/op/announcement');
const useTrending = () => useContent<Trending>('/op/trending');

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
        <label className="field">
          Reason
          <select required value={reason} onChange={(event) => setReason(event.target.value)}>
            <option value="">Choose a reason</option>
            {Object.entries(reasonNames).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Details (optional)
          <textarea rows={4} maxLength={2000} value={note} onChange={(event) => setNote(event.target.value)} />
        </label>
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
