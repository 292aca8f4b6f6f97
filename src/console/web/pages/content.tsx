import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Announcement, HomeCards, Trending } from '../../../client/content/api.ts';
import { callJson } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { Empty, Pending } from '../parts/states.tsx';

const languages = ['en', 'zh-CN', 'zh-TW', 'ja', 'ko', 'de', 'es', 'fr', 'it', 'ms', 'pt', 'ru'] as const;

export function Content() {
  const [language, setLanguage] = useState<string>('en');
  const nameOf = (tag: string) => new Intl.DisplayNames(undefined, { type: 'language' }).of(tag);
  return (
    <>
      <header className="page">
        <h1>Content</h1>
        <label className="field inline">
          Language
          <select value={language} onChange={(event) => setLanguage(event.target.value)}>
            {languages.map((tag) => (
              <option key={tag} value={tag}>
                {nameOf(tag)}
              </option>
            ))}
          </select>
        </label>
      </header>
      <Section title="Announcement" path="/op/announcement" language={language}>
        {(announcement: Announcement) =>
          announcement.visible ? (
            <div className="card" lang={language}>
              <h3>{announcement.title}</h3>
              <p>{announcement.description}</p>
              <p className="quiet address">{announcement.url}</p>
            </div>
          ) : (
            <Empty title="No announcement is shown." />
          )
        }
      </Section>
      <Section title="Home cards" path="/op/homecards/v2" language={language}>
        {({ cards, featuredCardIds }: HomeCards) =>
          cards.length === 0 ? (
            <Empty title="There are no cards." />
          ) : (
            <ul className="tiles" lang={language}>
              {cards.map((card) => (
                <li key={card.id} className="card">
                  <h3>{card.title}</h3>
                  <p>{card.description}</p>
                  <p className="quiet">{card.prompt}</p>
                  <p className="tags">
                    {featuredCardIds.includes(card.id) && <span className="tag">featured</span>}
                    {[card.mediaType, card.ratio, card.model, card.requiredPlan].map((fact) => (
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
            <ul className="lines" lang={language}>
              {items.map(({ title, coverType, url }) => (
                <li key={`${title} ${url}`} className="row">
                  <span>
                    {title} <span className="tag">{coverType}</span>
                  </span>
                  <span className="quiet address">{url}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Section>
    </>
  );
}

/** The response of the public endpoint in that language. */
function Section<T>({
  title,
  path,
  language,
  children,
}: {
  readonly title: string;
  readonly path: string;
  readonly language: string;
  readonly children: (body: T) => React.ReactNode;
}) {
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
