import { Flag, Megaphone, Sparkles, TrendingUp, WandSparkles } from 'lucide-react';
import { useState } from 'react';
import { startCreating } from '../create/order.ts';
import { type GalleryItem, useAnnouncement, useGallery, useHomeCards, useTrending } from '../explore/gallery.ts';
import { ReportDialog } from '../explore/reportdialog.tsx';
import { AssetImage } from '../library/assetimage.tsx';
import { useConsole } from '../operator.tsx';
import { When } from '../parts/figures.tsx';
import { IconButton } from '../parts/iconbutton.tsx';
import { Empty, Pending } from '../parts/states.tsx';
import '../library/library.css';
import '../explore/explore.css';

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
