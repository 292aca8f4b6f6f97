import { Search } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { EraseEverything, Export } from '../knowledge/erasure.tsx';
import { Fact, type ShownMemory } from '../knowledge/fact.tsx';
import { groups, useMemories, useProfile, useSearch } from '../knowledge/facts.ts';
import '../knowledge/knowledge.css';
import { useHidden } from '../library/deletions.ts';
import '../library/library.css';
import { Empty, Pending } from '../parts/states.tsx';
import { product } from '../shell/product.ts';
import { startDraft } from '../studio/draft.ts';
import { useUser } from '../user.tsx';

/** The memory of the signed-in user. */
export function Knowledge() {
  const [search, setSearch] = useState('');
  const query = useDeferredValue(search.trim());
  return (
    <div className="knowledge">
      <header className="page">
        <div>
          <h1>Your memory</h1>
          <p className="quiet">{product} uses these facts in every conversation. You can correct or delete them.</p>
        </div>
        <div className="does">
          <Export />
          <EraseEverything />
        </div>
      </header>
      <label className="find">
        <Search size={16} strokeWidth={1.75} aria-hidden="true" />
        <input
          type="search"
          aria-label="Search memories"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </label>
      {query === '' ? (
        <>
          <Profile />
          <Everything />
        </>
      ) : (
        <Found query={query} />
      )}
    </div>
  );
}

const factNames: Readonly<Record<string, string>> = {
  display_name: 'Name',
  language: 'Language',
  timezone: 'Time zone',
};

function Profile() {
  const { data: profile } = useProfile();
  const facts = Object.entries(profile?.facts ?? {}).filter(([name]) => factNames[name] !== undefined);
  if (facts.length === 0 && !profile?.summary) return null;
  return (
    <section className="card profile" aria-label="Profile">
      {profile?.summary && <p>{profile.summary}</p>}
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{factNames[name]}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Everything() {
  const hidden = useHidden();
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useMemories();
  if (data === undefined) return <Pending error={error} retry={refetch} what="Reading your memories" />;
  const memories = data.pages.flatMap((page) => page.memories).filter(({ id }) => !hidden.has(id));
  if (memories.length === 0 && !hasNextPage) return <Nothing />;
  return (
    <>
      {groups.map(({ type, title, about }) => {
        const ofType = memories.filter((memory) => memory.type === type);
        return (
          ofType.length > 0 && (
            <section key={type} aria-labelledby={`group-${type}`}>
              <h2 id={`group-${type}`}>{title}</h2>
              <p className="quiet">{about}</p>
              <Facts memories={ofType} />
            </section>
          )
        );
      })}
      {hasNextPage && (
        <button type="button" className="more" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

function Found({ query }: { readonly query: string }) {
  const hidden = useHidden();
  const { data, error, refetch } = useSearch(query);
  if (data === undefined) return <Pending error={error} retry={refetch} what="Searching" />;
  const memories = data.filter(({ id }) => !hidden.has(id));
  return memories.length === 0 ? <Empty title="Nothing matches." /> : <Facts memories={memories} />;
}

function Facts({ memories }: { readonly memories: readonly ShownMemory[] }) {
  return (
    <ul>
      {memories.map((memory) => (
        <Fact key={memory.id} memory={memory} />
      ))}
    </ul>
  );
}

function Nothing() {
  const { email } = useUser();
  return (
    <Empty title={`${product} has not stored anything about you yet.`}>
      <p>In a conversation, say for example “remember that I like warm colors”. It appears here for {email}.</p>
      <button type="button" onClick={() => startDraft({ assetIds: [], text: 'Remember that I like warm colors' })}>
        Start a conversation
      </button>
    </Empty>
  );
}
