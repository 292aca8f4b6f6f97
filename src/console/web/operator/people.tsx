/** People: finding users by address or id, and the page of one person. */
import './desk.css';
import { ArrowLeft, Search } from 'lucide-react';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { PeoplePage, Person } from '#accounts/people/api.ts';
import type { Part } from '../../services.ts';
import { countOf, momentOf, sizeOf, When } from '../parts/figures.tsx';
import { Listing, usePages } from '../parts/listing.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Pending } from '../parts/states.tsx';
import { Account } from './account.tsx';
import { Activity } from './activity.tsx';
import { Data } from './data.tsx';
import { type PersonView, personKey, planName } from './personview.ts';

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

// One person: account, usage, content, mails, incidents and what operators did.

function PersonPage({ userId }: { readonly userId: string }) {
  const { data, error, refetch } = useRead<PersonView>(personKey(userId), `/api/people/${encodeURIComponent(userId)}`);
  return (
    <>
      <p className="desk-back">
        <Link href="/operator/people">
          <ArrowLeft size={16} strokeWidth={1.75} aria-hidden="true" /> All people
        </Link>
      </p>
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading this person" />
      ) : (
        <Details view={data} />
      )}
    </>
  );
}

function Details({ view }: { readonly view: PersonView }) {
  const { person } = view.record;
  return (
    <>
      <header className="page desk-head">
        <div>
          <h1>{person.email ?? 'No email address'}</h1>
          <p className="address quiet">{person.id}</p>
        </div>
        <span className="row">
          <Link href={`/operator/runs?userId=${person.id}`}>Runs</Link>
          <Link href={`/operator/runs?kind=generations&userId=${person.id}`}>Images and videos</Link>
          <span className="tag">{planName(person.plan)}</span>
        </span>
      </header>
      <dl className="desk-tiles">
        <Tile name="Credits" value={countOf(person.credits)} />
        <PartTile name="Threads" part={view.conversations} show={({ threads }) => countOf(threads)} />
        <PartTile name="Messages" part={view.conversations} show={({ messages }) => countOf(messages)} />
        <PartTile name="Assets" part={view.storage} show={({ assets }) => countOf(assets)} />
        <PartTile name="Storage" part={view.storage} show={({ bytes }) => sizeOf(bytes)} />
        <Tile name="Joined" value={<When at={person.createdAt} />} hint={momentOf(person.createdAt)} />
      </dl>
      <div className="desk-columns">
        <Activity view={view} />
        <div className="stack desk-aside">
          <Account record={view.record} />
          <Data person={person} />
        </div>
      </div>
    </>
  );
}

function PartTile<T>({
  name,
  part,
  show,
}: {
  readonly name: string;
  readonly part: Part<T>;
  readonly show: (value: T) => string;
}) {
  return part.isThere ? (
    <Tile name={name} value={show(part.value)} />
  ) : (
    <Tile name={name} value="Unavailable" hint={part.reason} />
  );
}

function Tile({ name, value, hint }: { readonly name: string; readonly value: ReactNode; readonly hint?: string }) {
  return (
    <div title={hint}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
