/** Where content is, as it is or as the same bytes, and which incidents are about it. */
import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import type { Incident } from '#media/incidents/api.ts';
import type { ContentPlaces } from '#media/reports/api.ts';
import { callJson } from '../calls.ts';
import { Changes, useConsole } from '../operator.tsx';
import { useRead } from '../parts/reading.ts';
import { Pending, Problem } from '../parts/states.tsx';
import { Line, Lines } from './activity.tsx';
import { isDecidable, nobody, type Place, placeOf, statusOf, titleOf } from './incidentstates.ts';
import { PersonLink } from './names.tsx';

/** Where the content is, with a link if an operator can see that. */
export function PlaceLink({ of: place }: { readonly of: Place }) {
  const { words, href } = placeOf(place, useConsole().data?.addresses.edge);
  if (href === undefined) return <span>{words}</span>;
  if (href.startsWith('/operator')) return <Link href={href}>{words}</Link>;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {words}
    </a>
  );
}

/** `query`: the id of an incident, or ids of assets. */
export const usePlaces = (query: Readonly<Record<string, string>>) =>
  useRead<ContentPlaces>(['incidents', 'places', query], `/api/incidents/places?${new URLSearchParams(query)}`);

type Stored = ContentPlaces['places'][number];

/** The place of an asset, and the pages that show it. */
export const PlaceLinks = ({ of: place }: { readonly of: Stored }) => (
  <span className="record-facts">
    <PlaceLink of={place} />
    {place.shareIds.map((shareId) => (
      <PlaceLink key={shareId} of={{ ...place, isShared: true, shareId }} />
    ))}
  </span>
);

/** Other open incidents, and uploads that a decision does not reach and that have no open incident. */
export function undecidedOf({ places, incidents }: ContentPlaces, id?: string) {
  const open = incidents.filter((one) => one.status === 'open' && isDecidable(one));
  return {
    reported: open.filter((one) => one.id !== id),
    unreported: places.filter(
      (one) => !one.isCopy && !one.isRestricted && open.every(({ assetId }) => assetId !== one.assetId),
    ),
  };
}

export function Places({ of: { id } }: { readonly of: Incident }) {
  const { data, error, refetch } = usePlaces({ incidentId: id });
  const others = data?.incidents.filter((one) => one.id !== id) ?? [];
  return (
    <section aria-labelledby="places">
      <h2 id="places">This content everywhere</h2>
      {data === undefined && <Pending error={error} retry={refetch} what="Reading the places" />}
      {data?.places.length === 0 && <p className="quiet">No copy of it is stored.</p>}
      <Lines>
        {data?.places.map((place) => (
          <Line
            key={place.assetId}
            name={<PlaceLinks of={place} />}
            note={
              <>
                {place.isCopy ? 'A decision applies to it. Of ' : 'The same bytes, uploaded again. Of '}
                <PersonLink id={place.ownerId} />
                {place.isRestricted && ', restricted'}
              </>
            }
          />
        ))}
        {others.map((one) => (
          <IncidentLine key={one.id} of={one} />
        ))}
      </Lines>
    </section>
  );
}

/** A further incident. */
export const IncidentLine = ({ of: one }: { readonly of: Incident }) => (
  <Line
    name={
      <Link href={`/operator/incidents/${one.id}`}>
        {titleOf(one)}
        {one.title !== null && `: ${one.title}`}
      </Link>
    }
    note={`Incident, ${statusOf(one)}`}
    at={one.createdAt}
  />
);

/** Where a file of an order is, and the incident in which an operator decides about it. */
export function FileActions({ assetId }: { readonly assetId: string }) {
  const { data } = usePlaces({ assetIds: assetId });
  const opening = useMutation({
    mutationFn: async () => {
      const { id } = await callJson<Incident>('/api/incidents', { method: 'POST', json: { assetId } });
      navigate(`/operator/incidents/${id}`);
    },
  });
  const open = data && undecidedOf(data).reported[0];
  return (
    <>
      {data?.places
        .filter(({ isCopy }) => isCopy)
        .map((place) => (
          <PlaceLinks key={place.assetId} of={place} />
        ))}
      {data?.incidents.map((one) => (
        <Link key={one.id} href={`/operator/incidents/${one.id}`}>
          Incident, {statusOf(one)}
        </Link>
      ))}
      {open === undefined && data?.places.some((one) => one.assetId === assetId) && (
        <Changes>
          <button type="button" className="danger" disabled={opening.isPending} onClick={() => opening.mutate()}>
            Take down …
          </button>
        </Changes>
      )}
      <Problem of={opening.error} />
    </>
  );
}
