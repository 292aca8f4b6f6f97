import { useQuery } from '@tanstack/react-query';
import { Clapperboard, ImageIcon } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Announcement, HomeCards, Trending } from '../../../client/content/api.ts';
import { callJson } from '../calls.ts';
import { SettingLink, useModels } from '../operator/names.tsx';
import { useConsole } from '../operator.tsx';
import { Choice } from '../parts/fields.tsx';
import { planName } from '../parts/figures.tsx';
import { Empty, Pending } from '../parts/states.tsx';

const languages = ['en', 'zh-CN', 'zh-TW', 'ja', 'ko', 'de', 'es', 'fr', 'it', 'ms', 'pt', 'ru'] as const;
const names = new Intl.DisplayNames(undefined, { type: 'language' });

export function Content() {
  const [language, setLanguage] = useState<string>('en');
  return (
    <>
      <header className="page">
        <div>
          <h1>Content</h1>
          <p className="quiet">
            Users see this in <Link href="/explore">Explore</Link>. It comes from the CMS at{' '}
            <SettingLink name="CMS_URL" />. Without a CMS, edit the files below <code>cms</code> in the data folder.
          </p>
        </div>
        <Choice
          label="Language"
          className="field inline"
          choices={languages.map((tag) => [tag, names.of(tag) ?? tag])}
          value={language}
          onChange={setLanguage}
        />
      </header>
      <Section title="Announcement" path="/op/announcement" language={language}>
        {({ visible, title, description, url, imageUrl }: Announcement) =>
          visible ? (
            <div className="card content" lang={language}>
              <Picture url={imageUrl} />
              <h3>{title}</h3>
              <p>{description}</p>
              <Away url={url} />
            </div>
          ) : (
            <Empty title="No announcement is shown.">
              <p>
                Set <code>visible</code> in <code>announcements</code> to show one at the top of Explore.
              </p>
            </Empty>
          )
        }
      </Section>
      <Section title="Ideas (home cards)" path="/op/homecards/v2" language={language}>
        {({ cards, featuredCardIds }: HomeCards) =>
          cards.length === 0 ? (
            <Empty title="There are no cards." />
          ) : (
            <ul className="tiles" lang={language}>
              {cards.map((card) => (
                <li key={card.id} className="card content">
                  <Picture url={card.image} isVideo={card.mediaType === 'video'} />
                  <h3>{card.title}</h3>
                  <p>{card.description}</p>
                  <p className="quiet">{card.prompt === '' ? 'Without a prompt, Explore omits it.' : card.prompt}</p>
                  <p className="tags" lang="en">
                    {featuredCardIds.includes(card.id) && <span className="tag good">Featured: comes first</span>}
                    {[card.mediaType, card.ratio, `plan: ${planName(card.requiredPlan)}`].map((fact) => (
                      <span key={fact} className="tag">
                        {fact}
                      </span>
                    ))}
                    <ModelTag id={card.model} />
                  </p>
                  <Away url={card.arcadeLink} />
                </li>
              ))}
            </ul>
          )
        }
      </Section>
      <Section title="Trending" path="/op/trending" language={language}>
        {({ items }: Trending) =>
          items.length === 0 ? (
            <Empty title="Nothing is trending." />
          ) : (
            <ul className="tiles" lang={language}>
              {items.map(({ title, coverType, cover, url }) => (
                <li key={`${title} ${url}`} className="card content">
                  {coverType === 'image' && <Picture url={cover} />}
                  <h3>{title}</h3>
                  {url === '' ? <p className="quiet">Without a link, Explore omits it.</p> : <Away url={url} />}
                </li>
              ))}
            </ul>
          )
        }
      </Section>
    </>
  );
}

/** Pages load pictures only from the console, as those of the samples, and from the hosts that are set. */
function Picture({ url, isVideo = false }: { readonly url: string; readonly isVideo?: boolean }) {
  const { pictureHosts = [] } = useConsole().data ?? {};
  const host = URL.parse(url, location.origin)?.host;
  if (url === '' || host === undefined) return null;
  if (host === location.host || pictureHosts.includes(host)) return <img src={url} alt="" loading="lazy" />;
  const Icon = isVideo ? Clapperboard : ImageIcon;
  return (
    <div className="nopicture quiet">
      <Icon size={32} strokeWidth={1.25} aria-hidden="true" />
      <p>
        To show it, add <code>{host}</code> to <SettingLink name="CMS_MEDIA_HOSTS" />.
      </p>
    </div>
  );
}

/** Clients order with the model of the card. Only operators can read the models. */
function ModelTag({ id }: { readonly id: string }) {
  const { data } = useModels();
  const isMissing = data !== undefined && ![...data.models, ...data.media].some((model) => model.id === id);
  return <span className={isMissing ? 'tag bad' : 'tag'}>{isMissing ? `no model ${id}` : `model: ${id}`}</span>;
}

/** Links of the CMS lead to web pages. */
function Away({ url }: { readonly url: string }) {
  if (!/^https?:\/\//i.test(url)) return url !== '' && <p className="quiet">{url}</p>;
  return (
    <a className="address" href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  );
}

interface SectionProps<T> {
  readonly title: string;
  readonly path: string;
  readonly language: string;
  readonly children: (body: T) => React.ReactNode;
}

/** The response of the public endpoint in that language. */
function Section<T>({ title, path, language, children }: SectionProps<T>) {
  const { data: info } = useConsole();
  const { data, error, refetch } = useQuery({
    queryKey: ['content', path, language],
    queryFn: () => callJson<T>(`${info?.addresses.content}${path}`, { headers: { 'accept-language': language } }),
    enabled: info !== undefined,
  });
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {data === undefined ? <Pending error={error} retry={refetch} /> : children(data)}
    </section>
  );
}
