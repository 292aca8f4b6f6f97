/** People: finding users by address or id, and the page of one person. */
import { Search } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { PeoplePage, Person } from '#accounts/people/api.ts';
import { countOf, When } from '../parts/figures.tsx';
import { Empty } from '../parts/states.tsx';
import './desk.css';
import { Listing, usePages } from '../parts/listing.tsx';
import { PersonPage } from './person.tsx';
import { planName } from './personview.ts';

export function People() {
  const { personId } = useParams<{ personId?: string }>();
  return personId === undefined ? <Directory /> : <PersonPage key={personId} userId={personId} />;
}

function Directory() {
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim());
  const pages = usePages<PeoplePage>('people', '/api/people', { q });
  return (
    <>
      <header className="page">
        <h1>People</h1>
      </header>
      <search className="desk-search">
        <Search size={16} strokeWidth={1.75} aria-hidden="true" />
        <input
          type="search"
          aria-label="Find people by email address or id"
          placeholder="Email address or id"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </search>
      <Listing
        pages={pages}
        label="People"
        itemsOf={({ people }) => people}
        keyOf={({ id }) => id}
        empty={
          <Empty title={q === '' ? 'No users have signed up yet.' : 'No users match.'}>
            {q !== '' && <p className="quiet">Enter the beginning of an email address, or a complete id.</p>}
          </Empty>
        }
      >
        {(person) => <PersonRow person={person} />}
      </Listing>
    </>
  );
}

function PersonRow({ person: { id, email, plan, credits, createdAt } }: { readonly person: Person }) {
  return (
    <Link href={`/operator/people/${id}`} className="desk-entry">
      <span className="desk-name">{email ?? id}</span>
      <span className="tag">{planName(plan)}</span>
      <span className="desk-figure">{countOf(credits)} credits</span>
      <span className="quiet desk-figure">
        joined <When at={createdAt} />
      </span>
    </Link>
  );
}
