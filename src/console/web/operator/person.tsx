/** One person: account, usage, content, mails, incidents and what operators did. */
import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Part } from '../../services.ts';
import { countOf, momentOf, sizeOf, When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Pending } from '../parts/states.tsx';
import { Account } from './account.tsx';
import { Activity } from './activity.tsx';
import { Data } from './data.tsx';
import { type PersonView, personKey, planName } from './personview.ts';

export function PersonPage({ userId }: { readonly userId: string }) {
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
  // The figures were read before the erasure.
  const [isErased, setErased] = useState(false);
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
      {!isErased && <Figures view={view} />}
      <div className="desk-columns">
        {!isErased && <Activity view={view} />}
        <div className="stack desk-aside">
          {!isErased && <Account record={view.record} />}
          <Data person={person} onErased={() => setErased(true)} />
        </div>
      </div>
    </>
  );
}

function Figures({ view }: { readonly view: PersonView }) {
  const { person } = view.record;
  return (
    <dl className="desk-tiles">
      <Tile name="Credits" value={countOf(person.credits)} />
      <PartTile name="Threads" part={view.conversations} show={({ threads }) => countOf(threads)} />
      <PartTile name="Messages" part={view.conversations} show={({ messages }) => countOf(messages)} />
      <PartTile name="Assets" part={view.storage} show={({ assets }) => countOf(assets)} />
      <PartTile name="Storage" part={view.storage} show={({ bytes }) => sizeOf(bytes)} />
      <Tile name="Joined" value={<When at={person.createdAt} />} hint={momentOf(person.createdAt)} />
    </dl>
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
