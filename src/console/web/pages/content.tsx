import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Announcement, HomeCards, Trending } from '../../../client/content/api.ts';
import { callJson } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { Choice } from '../parts/fields.tsx';
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
            Users see this in Explore. It comes from the CMS at <code>CMS_URL</code>. Without a CMS, edit the files
            below <code>cms</code> in the data folder.
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
                  <Picture url={card.image} />
                  <h3>{card.title}</h3>
                  <p>{card.description}</p>
                  <p className="quiet">{card.prompt === '' ? 'Without a prompt, Explore omits it.' : card.prompt}</p>
                  <p className="tags" lang="en">
                    {featuredCardIds.includes(card.id) && <span className="tag good">Featured: comes first</span>}
                    {[card.mediaType, card.ratio, `model: ${card.model}`, `plan: ${card.requiredPlan}`].map((fact) => (
                      <span key={fact} className="tag">
                        {fact}
                      </span>
                    ))}
                  </p>
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
                  <Away url={url} />
                </li>
              ))}
            </ul>
          )
        }
      </Section>
    </>
  );
}

/** Pages load pictures only from the hosts that are set. */
function Picture({ url }: { readonly url: string }) {
  const { pictureHosts = [] } = useConsole().data ?? {};
  const host = URL.parse(url)?.host;
  if (host === undefined) return null;
  if (pictureHosts.includes(host)) return <img src={url} alt="" loading="lazy" />;
  return (
    <p className="quiet">
      Image not shown: <code>{host}</code> is not in <code>CMS_MEDIA_HOSTS</code>.
    </p>
  );
}

/** Links of the CMS lead to web pages. */
function Away({ url }: { readonly url: string }) {
  if (!/^https?:\/\//i.test(url)) return <p className="quiet">{url || 'Without a link, Explore omits it.'}</p>;
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
